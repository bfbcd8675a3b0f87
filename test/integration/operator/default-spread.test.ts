import { afterAll, beforeAll, expect, inject, test } from 'vitest';

import type { Node } from '#schemas/kubernetes/core.ts';
import { nodes } from '#schemas/kubernetes/resource.ts';
import { nodeClass, nodePool, workload } from '#test/world/objects.ts';
import { TestWorld } from '#test/world/test-world.ts';

const zone = 'topology.kubernetes.io/zone';

/** The very document that kube-scheduler runs by, and the operator too. */
const schedulerConfig = {
  apiVersion: 'kubescheduler.config.k8s.io/v1',
  kind: 'KubeSchedulerConfiguration',
  profiles: [
    {
      pluginConfig: [
        {
          name: 'PodTopologySpread',
          args: {
            defaultingType: 'List',
            defaultConstraints: [
              { topologyKey: zone, maxSkew: 1, minDomains: 3, whenUnsatisfiable: 'DoNotSchedule' },
            ],
          },
        },
      ],
    },
  ],
};

let world: TestWorld;

beforeAll(async () => {
  const settings = { SCHEDULER_CONFIG: JSON.stringify(schedulerConfig) };
  world = await TestWorld.start(inject('tools'), { schedulerConfig, settings });
});
afterAll(async () => world?.stop());

/** Kraftlet's own Pods are spread by default as well, and a Node without a zone takes none of them. */
async function expectHostInZone(name: string): Promise<void> {
  const { items } = await world.client.list(nodes);
  const body = { metadata: { labels: { [zone]: name } } };
  const patch = { type: 'merge', body } as const;
  await Promise.all(items.map(async ({ metadata }) => world.client.patch(nodes, metadata, patch)));
}

test('K49: a Deployment without a spread of its own gets machines in as many zones as kube-scheduler wants', async () => {
  await expectHostInZone('host');
  await world.expectUsable(nodeClass());
  await world.expectApplied(nodePool(), workload('Deployment', 'web', 3, { cpu: '500m' })); // one machine has room for all

  const running = await world.expectRunning('web', 3);
  const used = await Promise.all(
    running.map(async ({ spec }) => world.client.get(nodes, { name: spec?.nodeName ?? '' })),
  );
  expect(new Set(used.map((node: Node) => node.metadata?.labels?.[zone])).size).toBe(3);
  expect(await world.claims()).toHaveLength(3);
});
