import { specDefaults } from '../generated/unikraftnodeclass.defaults.ts';
import type { UnikraftNodeClassSpec } from './types.ts';

/** The branches of the schema that lead to a default. */
interface Defaults {
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Defaults>>;
  readonly items?: Defaults;
}

/**
 * The spec as the API server would store it, with every default of the CRD filled in, so that a field that is
 * absent and one that states the default are the same to a hash and to offline checks.
 *
 * @returns a copy; nothing that is set is changed
 */
export function withDefaults(spec: UnikraftNodeClassSpec): UnikraftNodeClassSpec {
  return fill(spec, specDefaults) as UnikraftNodeClassSpec;
}

function fill(value: unknown, defaults: Defaults | undefined): unknown {
  if (!defaults || value === null || typeof value !== 'object') return structuredClone(value);
  if (Array.isArray(value)) return value.map((item) => fill(item, defaults.items));
  const present = Object.entries({ ...absent(value, defaults), ...withoutNull(value, defaults) });
  return Object.fromEntries(
    present.map(([name, own]) => [name, fill(own, branch(defaults, name))]),
  );
}

/** Defaults of an object's own fields; those inside of them are filled in afterwards. */
function absent(value: object, { properties = {} }: Defaults): Record<string, unknown> {
  const missing = Object.entries(properties).filter(
    ([name, property]) => property.default !== undefined && !Object.hasOwn(value, name),
  );
  return Object.fromEntries(missing.map(([name, property]) => [name, property.default]));
}

/** As on the server, null reads as absent where there is a default. */
function withoutNull(value: object, defaults: Defaults): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).map(([name, own]) => [
      name,
      own ?? branch(defaults, name)?.default ?? own,
    ]),
  );
}

function branch({ properties }: Defaults, name: string): Defaults | undefined {
  return properties && Object.hasOwn(properties, name) ? properties[name] : undefined;
}
