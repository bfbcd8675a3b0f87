import { stringify } from 'yaml';

import { nodeClass } from '#schemas/rules/samples.ts';

import type { Generated } from './files.ts';
import { nodeClassRules, type Schema } from './schema.ts';

/** docs/reference/unikraftnodeclass.md: each field with its type, default and meaning. */
export function referenceFiles(schema: Schema): Generated[] {
  const { spec, status } = schema.properties ?? {};
  const text = `# UnikraftNodeClass

<!-- Made by \`npm run generate\` from schemas/; do not edit. -->

\`karpenter.unikraft.com/v1alpha1\`, cluster-scoped, short name \`unc\`.

${schema.description ?? ''}

The vendor's own provider is closed and its objects are not public. This kind is the project's own design.

\`\`\`yaml
${stringify(nodeClass(), { aliasDuplicateObjects: false }).trimEnd()}
\`\`\`

Secrets that it names are read in the operator's namespace.

${sections('spec', spec)}
## Rules

The API server refuses what breaks one of these. [codes.md](codes.md) explains each code.

| place | rule | code |
| --- | --- | --- |
${nodeClassRules()
  .map(({ path, message, fix, code }) => row(`\`${path}\``, `${message} ${fix}`, code))
  .join('\n')}

${sections('status', status)}`;
  return [{ path: 'docs/reference/unikraftnodeclass.md', text: `${text.trimEnd()}\n` }];
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
