import { applyPatch, type Operation } from 'rfc6902';

import type { Patch } from '#kube/client/client.ts';
import type { KubeObject, Live } from '#schemas/kubernetes/meta.ts';
import type { Resource } from '#schemas/kubernetes/resource.ts';

import { invalid } from './refusals.ts';

/**
 * An object as a PATCH leaves it. A strategic patch is taken as a merge patch, so lists are replaced whole; apply
 * is taken as a merge of what is applied, so fields that an earlier apply owned stay.
 *
 * @param before may be changed
 */
export function patched<T extends KubeObject>(_: Resource<T>, before: Live<T>, patch: Patch): T {
  if (patch.type !== 'json') return mergePatch(before, patch.body) as T;
  const failure = applyPatch(before, [...patch.body] as Operation[]).find(
    (result) => result !== null,
  );
  if (failure) throw invalid('patch', failure.message);
  return before;
}

/** RFC 7386. */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const result: Record<string, unknown> = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = mergePatch(result[key], value);
  }
  return result;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
