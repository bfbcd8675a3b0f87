import { afterAll, beforeAll, expect, inject, test } from 'vitest';

import { readUserData } from '#sandbox/machine/user-data.ts';
import { nodeClaims, type NodeClaim } from '#schemas/karpenter/types.ts';
import type { Node } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { nodes, pods } from '#schemas/kubernetes/resource.ts';
import { unikraftNodeClasses } from '#schemas/nodeclass/types.ts';
import { parseProviderID } from '#schemas/provider-id.ts';
import { Quantity } from '#schemas/quantity/quantity.ts';
import { seconds } from '#schemas/time/clock.ts';
import { nodeClass, nodePool, optedInPod, size, standaloneClaim } from '#test/world/objects.ts';
import { TestWorld } from '#test/world/test-world.ts';

let world: TestWorld;

beforeAll(async () => {
  world = await TestWorld.start(inject('tools'));
});
afterAll(async () => world?.stop());

/** Of the 8 vCPUs and 32 GiB of this size the platform keeps 2 and 4 for itself. */
const machine = size('m7i.2xlarge');

const nodeClasses = {
  plain: { capacity: {}, offers: { cpu: '6', memory: '28Gi', pods: '1k' } },
  absolute: {
    capacity: { vcpus: 4, memory: '10Gi', instances: 50 },
    offers: { cpu: '4', memory: '10Gi', pods: '50' },
  },
  relative: {
    capacity: { vcpus: '400%', memory: '50%' },
    offers: { cpu: '24', memory: '14Gi', pods: '1k' },
  },
};

test("a Node has its platform's quotas as capacity, cut as its node class says", async () => {
  for (const [name, { capacity }] of Object.entries(nodeClasses)) {
    await world.expectUsable(capped(name, capacity));
    await world.expectApplied(standaloneClaim(name, [machine], name));
  }

  const claims = await world.expectClaims(3);
  for (const claim of claims) {
    await world.expectCondition(claim, 'Initialized', { status: 'True' });
  }

  for (const { metadata } of claims) {
    const { offers } = nodeClasses[metadata.name as keyof typeof nodeClasses];
    const { status } = await world.client.get(nodeClaims, metadata);
    const node = await world.client.get(nodes, { name: status?.nodeName ?? '' });
    expect(node.status?.capacity).toEqual(offers);
    expect(node.status?.allocatable).toEqual(offers);
    expect(quotasOfMachine(node)).toEqual(offers);
    expect(status?.capacity).toEqual(offers);
  }
  await world.expectDeleted(...claims);
  await world.expectNoLeaks();
});

test('a platform that allows other than predicted is believed from then on', async () => {
  world.cloud.machines.next({ quotas: { vcpus: 1 } });
  world.cloud.machines.next({ quotas: { vcpus: 1 } });
  await world.expectApplied(
    capped('mistaken', {}),
    nodePool({ nodeClass: 'mistaken', requirements: [size('m7i.xlarge')] }),
    optedInPod('too-big', { cpu: '2' }),
  );

  const first = await nextClaim('mistaken');
  await world.expectCondition(first, 'Launched', { status: 'True' });
  await world.expectEvent(first, 'QuotasDiffer');
  const { status } = await world.client.get(unikraftNodeClasses, { name: 'mistaken' });
  expect(status?.capacityCorrections).toEqual([
    {
      revision: status?.currentRevision,
      instanceType: 'm7i.xlarge',
      vcpus: 1,
      memoryMiB: 12_288,
      instances: 1000,
    },
  ]);

  const [tooBig] = await Promise.all([
    world.client.get(pods, { namespace: 'default', name: 'too-big' }),
    world.expectCondition(first, 'Initialized', { status: 'True' }),
  ]);
  await world.clock.forward(seconds(25)); // kube-scheduler has had its time to bind it as planned
  await world.expectEvent(tooBig, 'FailedScheduling'); // no size of the pool would do: none is tried
  await world.expectApplied(optedInPod('one', { cpu: '1' }), optedInPod('two', { cpu: '1' }));
  const second = await nextClaim('mistaken', [first]);
  await world.expectCondition(second, 'Launched', { status: 'True' });
  const launched = await world.client.get(nodeClaims, second.metadata);
  expect(launched.status?.capacity).toMatchObject({ cpu: '1', memory: '12288Mi' });
  await Promise.all([world.expectScheduled('one'), world.expectScheduled('two')]);
  expect(await world.eventsOf(second)).not.toContain('QuotasDiffer');
});

function capped(name: string, capacity: object): ReturnType<typeof nodeClass> {
  return nodeClass({ platform: { ...nodeClass().spec.platform, capacity } }, name);
}

/** A claim of that node class that is none of the known ones. */
async function nextClaim(nodeClassName: string, known: readonly Live<NodeClaim>[] = []) {
  return world.eventually(`another claim of ${nodeClassName}`, async () =>
    (await world.claims()).find(
      ({ metadata, spec }) =>
        spec.nodeClassRef.name === nodeClassName &&
        !known.some((other) => other.metadata.uid === metadata.uid),
    ),
  );
}

/** What the machine itself was told that it may give, spelled as a Node's capacity. */
function quotasOfMachine({ spec }: Node): Record<string, string> {
  const { id = '' } = parseProviderID(spec?.providerID ?? '') ?? {};
  const instance = world.cloud.ec2.instances.get(id);
  const [user] = readUserData(instance?.launch.userData ?? '').users;
  if (!user) throw new Error('the machine has no user');
  const { vcpus, memoryMiB, instances } = user.quotas;
  return { cpu: spelled(vcpus), memory: spelled(`${memoryMiB}Mi`), pods: spelled(instances) };
}

/** As the API server spells quantities. */
function spelled(quantity: string | number): string {
  return Quantity.parse(quantity).toString();
}
