import type { KubeClient } from '#kube/client/client.ts';
import type { Node, Taint } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { nodes } from '#schemas/kubernetes/resource.ts';
import { taints } from '#schemas/names.ts';

/** Whether the Node is closed to new Pods because its machine is to go. */
export function isClosed({ spec }: Node): boolean {
  return (spec?.taints ?? []).some(isDisrupted);
}

/** Closes a Node to new Pods; does nothing when it is closed. @throws ApiError; a conflict means: read again */
export async function close(client: KubeClient, node: Live<Node>): Promise<void> {
  if (isClosed(node)) return;
  await write(client, node, [...(node.spec?.taints ?? []), taints.disrupted]);
}

/** Opens it again, with all other taints as they are. */
export async function open(client: KubeClient, node: Live<Node>): Promise<void> {
  if (!isClosed(node)) return;
  await write(
    client,
    node,
    (node.spec?.taints ?? []).filter((taint) => !isDisrupted(taint)),
  );
}

function isDisrupted({ key, effect }: Taint): boolean {
  return key === taints.disrupted.key && effect === taints.disrupted.effect;
}

/** The list is written whole, so the resourceVersion keeps what others wrote meanwhile. */
async function write(client: KubeClient, node: Live<Node>, list: readonly Taint[]): Promise<void> {
  const { name, resourceVersion } = node.metadata;
  const body = { metadata: { resourceVersion }, spec: { taints: list } };
  await client.patch(nodes, { name }, { type: 'merge', body });
}
