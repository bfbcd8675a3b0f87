import { afterAll, beforeAll, expect, inject, test } from 'vitest';

import { isLive } from '#sandbox/cloud/ec2/instance.ts';
import { nodePools } from '#schemas/karpenter/types.ts';
import { events, pods } from '#schemas/kubernetes/resource.ts';
import { seconds } from '#schemas/time/clock.ts';
import { nodeClass, nodePool, optedInPod } from '#test/world/objects.ts';
import { TestWorld } from '#test/world/test-world.ts';
import { UseOverTime } from '#test/world/use-over-time.ts';

/** Each Pod takes a machine of two vCPUs for itself, so ten run within this limit. */
const names = Array.from({ length: 100 }, (_, index) => `pod-${index}`);
const limited = (cpu: string) => nodePool({ limits: { cpu } });

/** kube-scheduler looks at a Pod that it gave up often only every ten seconds, and ninety wait here. */
const patience = seconds(100);
const timeout = 120_000;

let world: TestWorld;
let use: UseOverTime;

beforeAll(async () => {
  world = await TestWorld.start(inject('tools'));
  use = UseOverTime.start(world.world);
  await world.expectUsable(nodeClass());
  await world.expectApplied(limited('20'));
});
afterAll(async () => {
  use?.stop();
  await world?.stop();
});

test(
  'a hundred Pods at once, and a restart amid their launches, stay within the limit',
  async () => {
    await Promise.all(
      names.map((name) => world.client.create(pods, optedInPod(name, { cpu: '2' }))),
    );
    await world.eventually('three machines in the cloud', async () => machines() >= 3);
    await world.stopOperator();
    await world.startOperator();

    await world.eventually('ten Pods running', async () => (await running()) === 10, patience);

    expect(machines()).toBe(10);
    expect(use.most).toEqual({ instances: 20, reservations: 20 });
    expect(use.looks).toBeGreaterThan(50);
  },
  timeout,
);

test('the pool says which limit, in a condition and in an event', async () => {
  const told = /Limit cpu 20 of NodePool web is reached, 20 in use \(KPU340\)/;
  const { message } = await world.expectConditionOf(nodePools, 'web', 'LimitReached', {
    status: 'True',
  });
  expect(message).toMatch(told);
  const pool = await world.client.get(nodePools, { name: 'web' });
  expect((await world.expectEvent(pool, 'LimitReached')).message).toMatch(told);
  await world.expectConditionOf(nodePools, 'web', 'Ready', { status: 'True' });
});

test('Pods that wait say that they wait for the limit', async () => {
  const told = await world.eventually('a Pod told', async () =>
    (await world.eventsOfOperator()).find(
      ({ reason, message = '' }) => reason === 'FailedScheduling' && message.includes('limit'),
    ),
  );
  expect(told.involvedObject.kind).toBe('Pod');
  expect(told.message).toMatch(/NodePool web: .*limit.*cpu.*KPU342/);
});

test(
  'with a higher limit more run, and not one too many',
  async () => {
    await world.expectApplied(limited('30'));

    await world.eventually('fifteen Pods running', async () => (await running()) === 15, patience);

    expect(machines()).toBe(15);
    expect(use.most).toEqual({ instances: 30, reservations: 30 });
    await world.expectConditionOf(nodePools, 'web', 'LimitReached', { status: 'True' });
  },
  timeout,
);

test(
  'once the limit is lifted the condition says so',
  async () => {
    const { items } = await world.client.list(pods, { namespace: 'default' });
    const waiting = items.filter(({ spec }) => !spec?.nodeName).slice(2);
    await Promise.all(waiting.map(({ metadata }) => world.client.delete(pods, metadata)));

    await world.expectApplied(limited('100'));

    await world.eventually('the last two running', async () => (await running()) === 17, patience);
    expect(machines()).toBe(17);
    await world.expectConditionOf(nodePools, 'web', 'LimitReached', { status: 'False' });
  },
  timeout,
);

test('no Pod was taken from its Node for a taint that the Node no longer had', async () => {
  const { items } = await world.client.list(events);
  const evicted = items.filter(
    ({ reason, message = '' }) =>
      reason === 'TaintManagerEviction' && !message.startsWith('Cancelling'), // a busy computer is late for a moment
  );
  expect(evicted.map(({ involvedObject }) => involvedObject.name)).toEqual([]);
});

const machines = (): number => world.cloud.ec2.instances.all.filter(isLive).length;

async function running(): Promise<number> {
  const { items } = await world.client.list(pods, { namespace: 'default' });
  return items.filter(({ status }) => status?.phase === 'Running').length;
}
