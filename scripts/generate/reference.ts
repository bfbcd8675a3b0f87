import { stringify } from 'yaml';

import type { Generated } from './files.ts';
import type { Kind } from './kinds.ts';
import { rulesFor, type Schema } from './schema.ts';

/** docs/reference/<kind>.md: each field with its type, default and meaning. */
export function referenceFile(schema: Schema, kind: Kind): Generated {
  const { spec, status } = schema.properties ?? {};
  const { group, version, kind: name } = kind.resource;
  const parts = [
    `# ${name}`,
    '<!-- Made by `npm run generate` from schemas/; do not edit. -->',
    `\`${group}/${version}\`, cluster-scoped, short name \`${kind.shortName}\`.`,
    schema.description ?? '',
    kind.before,
    `\`\`\`yaml\n${stringify(kind.sample, { aliasDuplicateObjects: false }).trimEnd()}\n\`\`\``,
    kind.after,
    sections('spec', spec).trimEnd(),
    rulesSection(kind),
    sections('status', status).trimEnd(),
  ];
  const text = parts.filter((part) => part !== undefined).join('\n\n');
  return { path: `docs/reference/${name.toLowerCase()}.md`, text: `${text}\n` };
}

function rulesSection({ resource }: Kind): string | undefined {
  const rules = rulesFor(resource);
  if (rules.length === 0) return undefined;
  return `## Rules

The API server refuses what breaks one of these. [codes.md](codes.md) explains each code.

| place | rule | code |
| --- | --- | --- |
${rules.map(({ path, message, fix, code }) => row(`\`${path}\``, `${message} ${fix}`, code)).join('\n')}
`;
}

/** One table for the plain fields of an object, and one section for each object in it. */
function sections(path: string, schema: Schema | undefined): string {
  const { description = '', properties = {}, required = [] } = schema ?? {};
  const rows = Object.entries(properties).map(([name, property]) =>
    row(
      `\`${name}\``,
      typeOf(property),
      standing(property, required.includes(name)),
      property.description ?? '',
    ),
  );
  const inner = Object.entries(properties).map(([name, property]) =>
    nested(`${path}.${name}`, property),
  );
  return `## ${path}

${description}

| field | type | default | meaning |
| --- | --- | --- | --- |
${rows.join('\n')}

${inner.join('')}`;
}

function nested(path: string, schema: Schema): string {
  if (schema.items?.properties) return sections(`${path}[]`, schema.items);
  return schema.properties ? sections(path, schema) : '';
}

function row(...cells: string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function typeOf(schema: Schema): string {
  const { enum: values, items, additionalProperties } = schema;
  if (values) return values.map((value) => `\`${value}\``).join(', ');
  if (schema['x-kubernetes-int-or-string']) return 'integer or string';
  if (items) return `list of ${typeOf(items)}`;
  if (additionalProperties) return `map to ${typeOf(additionalProperties)}`;
  return `${schema.type ?? 'any'}${bounds(schema)}`;
}

function bounds({ minimum, maximum }: Schema): string {
  return minimum === undefined ? '' : ` ${minimum}–${maximum ?? ''}`;
}

function standing({ default: value, properties }: Schema, isRequired: boolean): string {
  if (isRequired) return '**required**';
  if (value === undefined || properties) return '';
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
}
