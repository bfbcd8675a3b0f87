import { isDeepStrictEqual } from 'node:util';

import type { KubeClient } from '#kube/client/client.ts';
import type { KubeObject, Live } from '#schemas/kubernetes/meta.ts';
import type { Resource } from '#schemas/kubernetes/resource.ts';

type WithStatus = KubeObject & { status?: unknown };

/**
 * Writes what differs between an object's status and the wanted one, in one merge patch with the resourceVersion
 * that was read as its precondition: conditions are one list, so a write over somebody else's would lose it.
 *
 * @returns the object as written, or as given when there was nothing to write
 * @throws ApiError; a conflict means: read again and decide again
 */
export async function patchStatus<T extends WithStatus>(
  client: KubeClient,
  resource: Resource<T>,
  object: Live<T>,
  wanted: T['status'],
): Promise<Live<T>> {
  const status = mergeDiff(object.status ?? {}, wanted ?? {});
  if (status === undefined) return object;
  const { name, namespace, resourceVersion } = object.metadata;
  return client.patch<T>(
    resource,
    namespace === undefined ? { name } : { namespace, name },
    { type: 'merge', body: { metadata: { resourceVersion }, status } },
    { subresource: 'status' },
  );
}

/**
 * The RFC 7386 patch that makes `before` read as `after`: keys that are gone become null, lists are replaced whole,
 * keys whose wanted value is undefined count as gone. Undefined when both are equal.
 */
export function mergeDiff(before: object, after: object): Record<string, unknown> | undefined {
  const old = new Map<string, unknown>(Object.entries(before));
  const wanted = new Map(Object.entries(after).filter(([, value]) => value !== undefined));
  const changes = [...new Set([...old.keys(), ...wanted.keys()])].flatMap((key) => {
    const change = changeOf(old.get(key), wanted.get(key));
    return change === undefined ? [] : [[key, change] as const];
  });
  return changes.length === 0 ? undefined : Object.fromEntries(changes);
}

function changeOf(before: unknown, after: unknown): unknown {
  if (after === undefined) return before === undefined ? undefined : null;
  if (isMap(before) && isMap(after)) return mergeDiff(before, after);
  return isDeepStrictEqual(before, after) ? undefined : after;
}

function isMap(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
