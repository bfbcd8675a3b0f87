import { beforeEach, expect, test } from 'vitest';

import { CreateError, InsufficientCapacity, Unauthorized } from '#machine/errors.ts';
import { nodePools } from '#schemas/karpenter/types.ts';
import { controllerRevisions } from '#schemas/kubernetes/resource.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';

import { ClaimWorld, noLeaks, revisionName } from '../../testing/claim-world.ts';
import { nodePool } from '../../testing/objects.ts';

let world: ClaimWorld;
beforeEach(async () => {
  world = await ClaimWorld.make();
});

const reasons = (): string[] => world.notes.map(({ reason }) => reason);

test('a claim that asks for what is no quantity ends unlaunched, and says why', async () => {
  await world.claim({
    spec: {
      nodeClassRef: nodePool().spec.template.spec.nodeClassRef,
      requirements: [],
      resources: { requests: { cpu: '1e1.5' } },
    },
  });
  await world.gone();

  expect(world.cloud.launches).toEqual([]);
  expect(world.find()).toBeUndefined();
  expect(world.notes).toContainEqual(
    expect.objectContaining({
      reason: 'InvalidNodeClaim',
      message: expect.stringMatching(/^spec\.resources\.requests\.cpu: .*\(KPU319\)$/),
    }),
  );
});

test('where there is no room at all the claim ends, and nothing stays', async () => {
  for (const type of ['m8i.large', 'm8i.xlarge']) {
    world.cloud.full.add(`${type}/eu-central-1a`).add(`${type}/eu-central-1b`);
  }
  await world.claim();
  await world.gone();
  expect(reasons()).toContain('InsufficientCapacityError');
  expect(world.cloud.made).toEqual([]);
  expect(world.leaks()).toEqual(noLeaks);
});

test('refused credentials are not hammered at, and a person is told', async () => {
  world.cloud.launchFaults.push(...Array.from({ length: 50 }, () => new Unauthorized('denied')));
  await world.claim();
  const pause = await world.pass();
  expect(pause).toBe(minutes(1));
  expect(world.condition('Launched')).toMatchObject({ status: 'Unknown', reason: 'Unauthorized' });
  const warnings = world.notes.filter(({ type }) => type === 'Warning');
  expect(warnings).toMatchObject([{ reason: 'Unauthorized', message: 'denied (KPU311)' }]);
});

test('an unknown refusal is retried with growing pauses until the deadline, then another claim has its turn', async () => {
  const refusal = new CreateError('InvalidParameterValue', 'no', 'retry');
  world.cloud.launchFaults.push(...Array.from({ length: 500 }, () => refusal));
  await world.claim();
  expect(await world.pass()).toBe(seconds(2));
  await world.clock.forward(minutes(2));
  expect(await world.pass()).toBe(seconds(30));
  await world.clock.forward(minutes(3));
  await world.gone();
  expect(world.notes.find(({ reason }) => reason === 'LaunchDeadlineExceeded')?.message).toMatch(
    /Launched did not come about within 5 min \(no \(KPU312\)\).*KPU320/,
  );
  expect(world.leaks()).toEqual(noLeaks);
});

test('a machine that stays degraded never becomes a Node; its claim ends with the reason', async () => {
  world.platform.status = 'degraded';
  await world.claim();
  await world.until(() => world.condition('InstanceRunning')?.status === 'True');
  await world.clock.forward(minutes(19));
  await world.look();
  expect(world.condition('PlatformHealthy')?.message).toContain('node-health is degraded');
  await world.clock.forward(minutes(1));
  await world.gone();
  const end = world.notes.find(({ reason }) => reason === 'HealthDeadlineExceeded');
  expect(end?.message).toMatch(/within 20 min .*node-health is degraded.*KPU321/);
  expect(world.nodes).toEqual([]);
  expect(world.leaks()).toEqual(noLeaks);
});

test('an instance that ends before its Node is there ends the claim', async () => {
  world.platform.status = 'unknown';
  await world.claim();
  await world.until(() => world.condition('InstanceRunning')?.status === 'True');
  const [instance] = world.cloud.made;
  if (instance) world.cloud.kill(instance);
  await world.gone();
  expect(reasons()).toContain('InstanceEnded');
  expect(world.leaks()).toEqual(noLeaks);
});

test('a stopped instance is not gone: the claim ends and the instance with it', async () => {
  world.platform.status = 'unknown';
  await world.claim();
  await world.until(() => world.condition('InstanceRunning')?.status === 'True');
  const [instance] = world.cloud.made;
  if (instance) instance.stopped = true;
  await world.gone();
  expect(world.leaks()).toEqual(noLeaks);
});

test('a Kraftlet Pod that finds no room is told as it is, and its Node has a deadline', async () => {
  world.kraftlets.isPending = true;
  await world.claim();
  await world.until(
    () => world.condition('KraftletInstalled')?.reason === 'KraftletPodUnschedulable',
  );
  expect(world.condition('KraftletInstalled')?.message).toContain('0/1 nodes are available');
  expect(reasons()).toContain('KraftletPodUnschedulable');
  await world.clock.forward(minutes(10));
  world.kraftlets.isPending = false; // the fake would keep the Pod otherwise
  await world.pass();
  expect(reasons()).toContain('RegistrationDeadlineExceeded');
  await world.gone();
  expect(world.leaks()).toEqual(noLeaks);
});

test('without a class that can launch the claim ends unlaunched', async () => {
  world.client.remove(controllerRevisions, { namespace: world.namespace, name: revisionName });
  await world.claim();
  await world.gone();
  expect(reasons()).toContain('NodeClassNotReady');
  expect(world.leaks()).toEqual(noLeaks);
});

test('a pool at its limit gets no machine, and the event says which limit', async () => {
  world.client.seed(nodePools, nodePool({ limits: { cpu: '3' } }));
  await world.claim();
  await world.initialized();
  await world.claim({}, 'web-2');
  await world.gone('web-2');
  const end = world.notes.find(({ reason }) => reason === 'LimitReached');
  expect(end?.message).toContain('NodePool web is at its limit of 3 cpu (2 in use)');
  expect(world.cloud.made).toHaveLength(1);
});

test('a claim whose pool is gone gets no machine, since nobody knows its limits', async () => {
  world.client.remove(nodePools, { name: 'web' });
  await world.claim();
  await world.gone();
  expect(reasons()).toContain('NodePoolNotFound');
  expect(world.cloud.launches).toEqual([]);
});

test('a cloud that has room on paper only is not asked for ever', async () => {
  const full = new InsufficientCapacity('no room', 'capacity');
  world.cloud.launchFaults.push(...Array.from({ length: 5000 }, () => full));
  await world.claim();
  await world.gone();
  expect(world.notes.at(-1)?.message).toMatch(/one candidate after the other was refused.*KPU320/);
  expect(world.leaks()).toEqual(noLeaks);
});
