import { compile, type JSONSchema } from 'json-schema-to-typescript';

import type { Generated } from './files.ts';
import type { Kind } from './kinds.ts';
import { mapValues, referred, type Schema, type Source } from './schema.ts';

/** Has a type of its own, which other kinds share. */
const shared: Readonly<Record<string, string>> = { Condition: '../kubernetes/meta.ts' };

/** One interface for each definition of the schema, in its order. */
export async function typeFile(
  { definitions }: Source,
  { resource, folder }: Kind,
): Promise<Generated> {
  const name = resource.kind.toLowerCase();
  const own = Object.entries(definitions).filter(([definition]) => !(definition in shared));
  const parts = await Promise.all(
    own.map(async ([title, schema]) => compile({ ...asType(schema), title }, title, options)),
  );
  const banner = `// Made by \`npm run generate\` from schemas/${folder}/${name}.schema.yaml; do not edit.\n`;
  return { path: `schemas/generated/${name}.ts`, text: `${banner}${imports}\n${parts.join('\n')}` };
}

const imports = Object.entries(shared)
  .map(([name, file]) => `import type { ${name} } from '${file}';\n`)
  .join('');

const options = {
  additionalProperties: false,
  bannerComment: '',
  ignoreMinAndMaxItems: true,
  style: { printWidth: 100, singleQuote: true },
};

/** The schema as its types need it: other definitions by name, and words for what JSON Schema cannot say. */
function asType(schema: Schema): JSONSchema {
  const { description, properties, items, required } = schema;
  const tsType = typeName(schema);
  const text = description === undefined ? {} : { description: withDefault(schema) };
  if (tsType !== undefined) return { ...text, tsType };
  return {
    ...text,
    ...(schema.type !== undefined && { type: schema.type as 'object' }),
    ...(schema.enum && { enum: schema.enum }),
    ...(required && { required }),
    ...(properties && { properties: mapValues(properties, asType) }),
    ...(items && { items: asType(items) }),
  };
}

function typeName(schema: Schema): string | undefined {
  if (schema.$ref !== undefined) return referred(schema);
  if (schema['x-kubernetes-int-or-string']) return 'number | string';
  if (schema['x-kubernetes-preserve-unknown-fields']) return 'Record<string, unknown>';
  if (schema.additionalProperties) return 'Record<string, string>';
  return undefined;
}

function withDefault({ description = '', default: value }: Schema): string {
  return value === undefined ? description : `${description} Default: ${JSON.stringify(value)}.`;
}
