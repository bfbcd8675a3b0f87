import { afterAll, beforeAll, expect, inject, test } from 'vitest';

import type { Pod } from '#schemas/kubernetes/core.ts';
import { nodes } from '#schemas/kubernetes/resource.ts';
import { labels } from '#schemas/names.ts';
import { nodeClass, nodePool, optedInPod, workload } from '#test/world/objects.ts';
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

/** How many zones the workload runs in. */
async function zonesOf(running: readonly Pod[]): Promise<number> {
  const used = await Promise.all(
    running.map(async ({ spec }) => world.client.get(nodes, { name: spec?.nodeName ?? '' })),
  );
  return new Set(used.map(({ metadata }) => metadata.labels?.[zone])).size;
}

const small = { cpu: '500m' }; // one machine has room for three

test('K49: a Deployment without a spread of its own gets machines in as many zones as kube-scheduler wants', async () => {
  await expectHostInZone('host');
  await world.expectUsable(nodeClass());
  await world.expectApplied(nodePool(), workload('Deployment', 'web', 3, small));

  expect(await zonesOf(await world.expectRunning('web', 3))).toBe(3);
  expect(await world.claims()).toHaveLength(3);
});

test('K49: and so do Pods that nobody made, for the sake of their Service', async () => {
  const nodeSelector = { [labels.nodePool]: 'api' };
  const alone = ['a', 'b', 'c'].map((name) => {
    const { metadata, ...rest } = optedInPod(name, small, { nodeSelector });
    return { ...rest, metadata: { ...metadata, labels: { app: 'api' } } };
  });
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'api', namespace: 'default' },
    spec: { selector: { app: 'api' }, ports: [{ port: 80 }] },
  };
  await world.expectApplied(service, nodePool({ name: 'api' }), ...alone);

  expect(await zonesOf(await world.expectRunning('api', 3))).toBe(3);
});
