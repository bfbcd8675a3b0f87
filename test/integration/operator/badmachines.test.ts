import { afterAll, beforeAll, expect, inject, test } from 'vitest';

import { fault } from '#sandbox/cloud/wire/faults.ts';
import { nodePools, type NodeClaim } from '#schemas/karpenter/types.ts';
import { nodes, pods } from '#schemas/kubernetes/resource.ts';
import { labels, taints } from '#schemas/names.ts';
import { unikraftNodeClasses } from '#schemas/nodeclass/types.ts';
import { minutes } from '#schemas/time/clock.ts';
import { chart, nodeClass, nodePool, optedInPod, standaloneClaim } from '#test/world/objects.ts';
import { TestWorld } from '#test/world/test-world.ts';

let world: TestWorld;

beforeAll(async () => {
  world = await TestWorld.start(inject('tools'), { policies: false }); // nor does a webhook answer in it
  await world.expectUsable(nodeClass());
});
afterAll(async () => world?.stop());

const only = (pool: string) => ({ nodeSelector: { [labels.nodePool]: pool } });

test('a pool that can only be spot says so and never launches', async () => {
  const spot = { key: labels.capacityType, operator: 'In' as const, values: ['spot'] };
  await world.expectApplied(nodePool({ name: 'spot', requirements: [spot] }));
  const { message } = await world.expectConditionOf(nodePools, 'spot', 'ValidationSucceeded', {
    status: 'False',
    reason: 'NodePoolValidationFailed',
  });
  expect(message).toMatch(/^spec\.template\.spec\.requirements\[0\].*on demand only.*\(KPU101\)$/);
  await world.expectConditionOf(nodePools, 'spot', 'Ready', { status: 'False' });

  const [pod] = await world.expectApplied(optedInPod('for-spot', { cpu: '1' }, only('spot')));
  const told = await world.expectEvent(pod!, 'FailedScheduling');
  expect(told.message).toMatch(/NodePool spot: it is not ready: .*\(KPU342\)/);
  expect(await world.claims()).toEqual([]);
});

test('a limit that is no number stops its own pool and no other', async () => {
  const [, pod] = await world.expectApplied(
    nodePool({ name: 'endless', limits: { cpu: '1e1.5' } }),
    optedInPod('for-endless', { cpu: '1' }, only('endless')),
    nodePool({ name: 'sound' }),
    optedInPod('for-sound', { cpu: '1' }, only('sound')),
  );
  const { message } = await world.expectConditionOf(nodePools, 'endless', 'ValidationSucceeded', {
    status: 'False',
  });
  expect(message).toMatch(/^spec\.limits\.cpu: "1e1\.5" is no quantity.*\(KPU343\)$/);
  await world.expectScheduled('for-sound');
  await world.expectApplied(nodePool({ name: 'endless', limits: { cpu: '10' } }));
  await world.expectScheduled('for-endless');
  expect(pod?.metadata.name).toBe('for-endless');
});

test('a pool that names the vendor’s taint as its own has Nodes like any other', async () => {
  await world.expectApplied(
    nodePool({ name: 'tainted', template: { taints: [taints.kraftlet] } }),
    optedInPod('for-tainted', { cpu: '1' }, only('tainted')),
  );
  const { spec } = await world.expectScheduled('for-tainted');
  const node = await world.client.get(nodes, { name: spec?.nodeName ?? '' });
  expect(node.spec?.taints).toEqual([taints.kraftlet]);
});

test('a claim made by hand with a quantity that is none ends unlaunched', async () => {
  const launches = world.cloud.ec2.callsOf('RunInstances').length;
  const usual = standaloneClaim('immeasurable');
  const spec = { ...usual.spec, resources: { requests: { cpu: '1e1.5' } } };
  const malformed: NodeClaim = { ...usual, spec };
  const [claim] = await world.expectApplied(malformed);
  await world.expectGone(claim as never, { reason: 'InvalidNodeClaim' });
  expect(world.cloud.ec2.callsOf('RunInstances')).toHaveLength(launches);
});

test('a cloud that refuses the launch is told on the claim, asked seldom, and believed again', async () => {
  const code = 'UnauthorizedOperation';
  const { faults } = world.cloud.ec2;
  const allow = faults.next('RunInstances', fault({ code, status: 403, times: Infinity }));
  const before = world.cloud.ec2.callsOf('RunInstances').length;
  await world.expectApplied(standaloneClaim('refused'));
  const claim = (await world.claims()).find(({ metadata }) => metadata.name === 'refused')!;
  const { message } = await world.expectCondition(claim, 'Launched', {
    status: 'Unknown',
    reason: 'Unauthorized',
  });
  expect(message).toMatch(/UnauthorizedOperation.*\(KPU311\)$/);
  expect((await world.expectEvent(claim, 'Unauthorized')).message).toBe(message);
  await world.clock.forward(minutes(1));
  expect(world.cloud.ec2.callsOf('RunInstances').length - before).toBeLessThanOrEqual(3);

  allow();
  await world.clock.forward(minutes(1));
  await world.expectCondition(claim, 'Initialized', { status: 'True' });
  await world.expectDeleted(claim);
});

test('a Kraftlet image that does not exist is told, and the corrected class is used for the next machine', async () => {
  const missing = { image: { name: 'ghcr.io/nobody/kraftlet', tag: 'none' } };
  const kraftlet = { chart, namespace: 'kraftlet', values: missing };
  await world.expectUsable(nodeClass({ kraftlet }, 'imageless'));
  await world.expectApplied(
    nodePool({ name: 'imageless', nodeClass: 'imageless' }),
    optedInPod('for-imageless', { cpu: '1' }, only('imageless')),
  );
  const claim = await world.eventually('a claim of the pool', async () =>
    (await world.claims()).find(
      ({ metadata }) => metadata.labels?.[labels.nodePool] === 'imageless',
    ),
  );
  const { reason, message } = await world.expectCondition(claim, 'KraftletInstalled', {
    status: 'False',
  });
  expect(reason).toMatch(/^Kraftlet(ErrImagePull|ImagePullBackOff)$/);
  expect(message).toMatch(/^Kraftlet Pod .*ghcr\.io\/nobody\/kraftlet:none.*\(KPU327\)$/);

  await world.expectApplied(nodeClass({}, 'imageless'));
  await world.eventually('the corrected class in use', async () => {
    const { metadata, status } = await world.client.get(unikraftNodeClasses, { name: 'imageless' });
    return status?.observedGeneration === metadata.generation;
  });
  await world.clock.forward(minutes(11));

  await world.expectGone(claim, { reason: 'RegistrationDeadlineExceeded' });
  await world.expectScheduled('for-imageless');
  const { spec } = await world.client.get(pods, { namespace: 'default', name: 'for-imageless' });
  expect(spec?.nodeName).toMatch(/^imageless-/);
});

test('after all that nothing is left behind', async () => {
  const names = ['for-sound', 'for-endless', 'for-imageless', 'for-spot', 'for-tainted'];
  await Promise.all(
    names.map(async (name) => world.client.delete(pods, { namespace: 'default', name })),
  );
  await world.expectDeleted(...(await world.claims()));
  await world.expectNoLeaks();
  expect(await world.claims()).toEqual([]);
});
