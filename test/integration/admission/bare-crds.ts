import type { Manifest } from '#sandbox/manifests/render.ts';

/** All that refuses by value; what is left says which fields there are and of which type. */
const refusing: ReadonlySet<string> = new Set([
  'x-kubernetes-validations',
  'pattern',
  'format',
  'enum',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
]);

/**
 * CRDs that refuse nothing but wrong types, so that every case reaches what is to be judged. Which values a CRD of
 * Karpenter refuses itself differs between its releases.
 */
export function bare(manifests: readonly Manifest[]): Manifest[] {
  return manifests.map((manifest) => without(refusing, manifest) as Manifest);
}

/** CRDs as they were before they had rules. */
export function withoutRules(manifests: readonly Manifest[]): Manifest[] {
  return manifests.map((one) => without(new Set(['x-kubernetes-validations']), one) as Manifest);
}

function without(keywords: ReadonlySet<string>, value: unknown, isSchema = true): unknown {
  if (Array.isArray(value)) return value.map((item) => without(keywords, item));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !isSchema || !keywords.has(key))
      .map(([key, child]) => [key, without(keywords, child, key !== 'properties')]),
  );
}
