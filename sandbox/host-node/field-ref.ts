import type { Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';

/** Something in the Pod that cannot be made so here; the container waits with this as its message. */
export class CannotPrepare extends Error {
  override readonly name = 'CannotPrepare';
}

/** All Pods of the host node share the computer's own address. */
export const POD_ADDRESS = '127.0.0.1';

const FIELDS: Readonly<Record<string, (pod: Live<Pod>) => string | undefined>> = {
  'metadata.name': ({ metadata }) => metadata.name,
  'metadata.namespace': ({ metadata }) => metadata.namespace,
  'metadata.uid': ({ metadata }) => metadata.uid,
  'metadata.labels': ({ metadata }) => lines(metadata.labels),
  'metadata.annotations': ({ metadata }) => lines(metadata.annotations),
  'spec.nodeName': ({ spec }) => spec?.nodeName,
  'spec.serviceAccountName': ({ spec }) => spec?.serviceAccountName,
  'status.hostIP': () => POD_ADDRESS,
  'status.podIP': () => POD_ADDRESS,
  'status.podIPs': () => POD_ADDRESS,
};

/**
 * The value that a downward API field stands for; a label or annotation that is not there is empty.
 *
 * @throws CannotPrepare for a field that Pods cannot ask for
 * Source: Kubernetes, "Downward API".
 */
export function fieldValue(pod: Live<Pod>, path: string): string {
  const [, list, key] = /^metadata\.(labels|annotations)\['(.+)'\]$/.exec(path) ?? [];
  if (list !== undefined && key !== undefined) {
    return pod.metadata[list as 'labels' | 'annotations']?.[key] ?? '';
  }
  const read = Object.hasOwn(FIELDS, path) ? FIELDS[path] : undefined;
  if (!read) throw new CannotPrepare(`fieldPath ${path} is not one that a Pod can ask for`);
  return read(pod) ?? '';
}

/** `key="value"` a line, sorted, with the value quoted as Go does. */
function lines(map: Record<string, string> = {}): string {
  return Object.entries(map)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join('\n');
}
