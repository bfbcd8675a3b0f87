import type { Generated } from './files.ts';
import type { Kind } from './kinds.ts';
import type { Schema } from './schema.ts';

interface Defaults {
  default?: unknown;
  properties?: Record<string, Defaults>;
  items?: Defaults;
}

/**
 * What a `withDefaults` needs of the schema, so that no process has to read YAML for it; nothing for a kind that has
 * no defaults.
 */
export function defaultsFiles(schema: Schema, { resource, folder }: Kind): Generated[] {
  const name = resource.kind.toLowerCase();
  const spec = schema.properties?.['spec'];
  const tree = spec && defaultsOf(spec);
  if (!tree) return [];
  return [
    {
      path: `schemas/generated/${name}.defaults.ts`,
      text:
        `// Made by \`npm run generate\` from schemas/${folder}/${name}.schema.yaml; do not edit.\n\n` +
        `export const specDefaults = ${flow(tree)};\n`,
    },
  ];
}

/** The branches of the schema that lead to a default. */
function defaultsOf(schema: Schema): Defaults | undefined {
  const properties = Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const found = defaultsOf(property);
    return found ? [[name, found] as const] : [];
  });
  const items = schema.items && defaultsOf(schema.items);
  if (schema.default === undefined && properties.length === 0 && !items) return undefined;
  return {
    ...(schema.default !== undefined && { default: schema.default }),
    ...(properties.length > 0 && { properties: Object.fromEntries(properties) }),
    ...(items && { items }),
  };
}

function flow(value: unknown): string {
  return JSON.stringify(value, null, 2).replaceAll(/"([A-Za-z]+)":/g, '$1:');
}
