import { readFileSync } from 'node:fs';

import { parse } from 'yaml';

import type { Resource } from '#schemas/kubernetes/resource.ts';
import { isInCrd } from '#schemas/rules/lint.ts';
import { alternativesOf } from '#schemas/rules/places.ts';
import type { Rule } from '#schemas/rules/rule.ts';
import { describe } from '#schemas/rules/rule.ts';
import { rules } from '#schemas/rules/table.ts';

import type { Kind } from './kinds.ts';

/** The part of an OpenAPI v3 schema that the generators look at; the rest is handed through. */
export interface Schema {
  $ref?: string;
  type?: string;
  description?: string;
  default?: unknown;
  enum?: string[];
  minimum?: number;
  maximum?: number;
  required?: string[];
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: Schema;
  'x-kubernetes-validations'?: { rule: string; message: string; optionalOldSelf?: boolean }[];
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  [keyword: string]: unknown;
}

export interface Source extends Schema {
  definitions: Record<string, Schema>;
}

/** The schema as it was written, with its definitions apart. */
export function readSource({ resource, folder }: Kind): Source {
  const name = `${resource.kind.toLowerCase()}.schema.yaml`;
  const file = new URL(import.meta.resolve(`#schemas/${folder}/${name}`));
  return parse(readFileSync(file, 'utf8')) as Source;
}

/** The schema as the API server takes it: definitions in their places, and the rules of the table with them. */
export function resolveSource(source: Source, { resource }: Kind): Schema {
  const { definitions: _, ...root } = source;
  const schema = inline(root, source);
  for (const rule of rulesFor(resource)) addRule(schema, rule);
  return schema;
}

/** Those that stand in the kind's own schema, which can refuse and cannot warn. */
export function rulesFor(resource: Resource): readonly Rule[] {
  return rules.filter((rule) => rule.target === resource && isInCrd(rule));
}

/** Name of the definition that a `$ref` means. */
export function referred({ $ref }: Schema): string | undefined {
  return $ref?.replace(/^#\/definitions\//, '');
}

/** What is said beside a `$ref` wins over the definition. */
function inline(schema: Schema, source: Source): Schema {
  const name = referred(schema);
  if (name !== undefined) {
    const { $ref: _, ...own } = schema;
    const definition = source.definitions[name];
    if (!definition) throw new Error(`the schema refers to ${name}, which is not defined`);
    return inline({ ...definition, ...own }, source);
  }
  const { properties, items, additionalProperties } = schema;
  return {
    ...schema,
    ...(properties && { properties: mapValues(properties, (one) => inline(one, source)) }),
    ...(items && { items: inline(items, source) }),
    ...(additionalProperties && { additionalProperties: inline(additionalProperties, source) }),
  };
}

export function mapValues<A, B>(
  record: Readonly<Record<string, A>>,
  change: (value: A, key: string) => B,
): Record<string, B> {
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => [key, change(value, key)]),
  );
}

/** The API server puts the path before the message by itself. */
function addRule(root: Schema, rule: Rule): void {
  const message = describe({ ...rule, path: '' }).replace(/^: /, '');
  for (const path of alternativesOf(rule.path)) {
    const place = path.split('.').reduce((schema, segment) => child(schema, segment, rule), root);
    const text = inSchema(rule.cel);
    (place['x-kubernetes-validations'] ??= []).push(
      holdsUnknown(place)
        ? { rule: orAsItWas(rule.name, text), message, optionalOldSelf: true }
        : { rule: text, message },
    );
  }
}

/**
 * An update that leaves a value as it was is not asked about it again, or nobody could write a label to what a newer
 * release refuses. The API server sees to that, except around what it has no schema for, which it does not compare.
 *
 * Source: Kubernetes 1.37, k8s.io/apiserver/pkg/cel/common/equality.go.
 */
function holdsUnknown(schema: Schema): boolean {
  const { properties = {}, items, additionalProperties } = schema;
  const inside = [...Object.values(properties), items, additionalProperties];
  return (
    schema['x-kubernetes-preserve-unknown-fields'] === true ||
    inside.some((one) => one !== undefined && holdsUnknown(one))
  );
}

/** The rule, unless all fields that it looks at are as they were. */
function orAsItWas(name: string, cel: string): string {
  const fields = new Set([...cel.matchAll(/\bself\.(\w+)/g)].map(([, field = '']) => field));
  if (fields.size === 0) throw new Error(`rule ${name}: which fields it looks at cannot be told`);
  const same = [...fields].map(
    (field) =>
      `has(self.${field}) == has(old.${field}) && (!has(self.${field}) || self.${field} == old.${field})`,
  );
  return `(${cel}) || (oldSelf.hasValue() && [oldSelf.value()].all(old, ${same.join(' && ')}))`;
}

/**
 * The amounts in our own schemas are texts, and their maxLength says what reading them may cost; string() around one
 * loses it, and the API server then refuses the whole CRD as too costly.
 */
function inSchema(cel: string): string {
  return cel.replaceAll(/quantity\(string\((?<text>[\w.]+)\)\)/g, 'quantity($<text>)');
}

function child(schema: Schema, segment: string, { name, path }: Rule): Schema {
  const property = schema.properties?.[segment.replace(/\[\]$/, '')];
  const found = segment.endsWith('[]') ? property?.items : property;
  if (!found) throw new Error(`rule ${name}: the schema has no ${path}`);
  return found;
}
