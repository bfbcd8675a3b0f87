import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';

import { readSample } from '#sandbox/world/installation.ts';
import { statefulSets } from '#schemas/kubernetes/resource.ts';
import { labels } from '#schemas/names.ts';
import { unikraftNodeClasses, type UnikraftNodeClass } from '#schemas/nodeclass/types.ts';
import { nodePool, optedInPod } from '#test/world/objects.ts';
import { startOperatorProcess } from '#test/world/operator-process.ts';
import { TestWorld } from '#test/world/test-world.ts';

const tools = inject('tools');
let world: TestWorld;

beforeAll(async () => {
  world = await TestWorld.start(tools, { operator: false });
  await startOperatorProcess(world.world);
});
afterEach(async () => {
  await world.expectDeleted(...(await world.claims()));
  await world.expectNoLeaks();
});
afterAll(async () => world?.stop());

/** The node class of a sample, by another name. */
async function sampled(sample: string, name: string): Promise<UnikraftNodeClass> {
  const [found] = (await readSample(tools, `dns/${sample}`)) as UnikraftNodeClass[];
  return { ...found, metadata: { name }, spec: found!.spec };
}

test('a machine in no DNS comes to be, runs its Pod and goes, and is known by name to Kraftlet', async () => {
  await world.expectUsable(await sampled('none', 'no-dns'));
  const { message } = await world.expectConditionOf(unikraftNodeClasses, 'no-dns', 'DNSReady', {
    status: 'True',
    reason: 'NamesNotPublished',
  });
  expect(message).toContain('(KPU371)');

  const pool = nodePool({ name: 'no-dns', nodeClass: 'no-dns' });
  const pod = optedInPod('unknown', { cpu: '1' });
  await world.expectApplied(pool, pod);
  const { spec } = await world.expectScheduled('unknown');
  const [node] = await world.expectNodes(1);
  expect(spec?.nodeName).toBe(node?.metadata.name);
  expect(world.cloud.leaks().records).toBe(0);
  const { items } = await world.client.list(statefulSets, { labelSelector: labels.claimUid });
  const { address } = world.cloud.ec2.instances.live[0]!;
  expect(items.map((set) => set.spec?.template.spec.hostAliases)).toEqual([
    [
      {
        ip: address,
        hostnames: [
          `api.${spec?.nodeName}.machines.internal`,
          `index.${spec?.nodeName}.machines.internal`,
        ],
      },
    ],
  ]);
  await world.expectDeleted(pod, pool);
});
