import type { KubeClient } from '#kube/client/client.ts';
import { getCondition } from '#kube/conditions.ts';
import type { Condition } from '#schemas/kubernetes/meta.ts';
import { nodes } from '#schemas/kubernetes/resource.ts';

/** What a Node's Ready condition says now. */
export async function readyOf(client: KubeClient, name = ''): Promise<Condition | undefined> {
  const { status } = await client.get(nodes, { name });
  return getCondition(status?.conditions, 'Ready');
}

/** As kube-controller-manager does 40 to 50 s after it has last heard of the Node, which no test waits for. */
export async function unheardOf(client: KubeClient, name = ''): Promise<void> {
  const conditions = [
    { type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown', message: 'stopped posting' },
  ];
  const patch = { type: 'strategic', body: { status: { conditions } } } as const;
  await client.patch(nodes, { name }, patch, { subresource: 'status' });
}
