import { afterAll, beforeAll, expect, inject, test } from 'vitest';

import { isLive } from '#sandbox/cloud/ec2/instance.ts';
import { pods } from '#schemas/kubernetes/resource.ts';
import { seconds } from '#schemas/time/clock.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';
import { nodeClass, nodePool, optedInPod } from '#test/world/objects.ts';
import { TestWorld } from '#test/world/test-world.ts';

const outage = seconds(30);
/** Every client of the API server backs off up to half a minute. */
const recovery = seconds(90);
/** How a dry run ends, by which a node class is checked. */
const rehearsed = 'DryRunOperation';
const names = ['first', 'second', 'third'];
const time = new SystemClock();
let world: TestWorld;

beforeAll(async () => {
  world = await TestWorld.start(inject('tools'));
  await world.expectUsable(nodeClass());
  await world.expectApplied(nodePool());
});
afterAll(async () => world?.stop());

test('an API server that goes away amid launches costs patience, and no machine', async () => {
  await world.expectApplied(...names.map((name) => optedInPod(name, { cpu: '2' })));
  await world.eventually('all machines launched', async () => instances().length === 3);
  const before = { ...world.operatorLoad, cloud: cloudCalls() };

  await world.world.plane.pauseApiServer();
  await time.sleep(outage);
  const during = { ...world.operatorLoad, cloud: cloudCalls() };
  await world.world.plane.resumeApiServer();

  expect(during.requests - before.requests).toBeGreaterThan(5); // it goes on trying
  expect(during.requests - before.requests).toBeLessThan(200);
  expect(during.lines - before.lines).toBeLessThan(200);
  expect(during.cloud - before.cloud).toBeLessThan(60);
  await world.expectApplied(optedInPod('fourth', { cpu: '2' })); // and what comes later is served too
  await world.eventually('four Pods running', async () => (await running()) === 4, recovery);
  expect(instances()).toHaveLength(4);
  const launches = world.cloud.ec2
    .callsOf('RunInstances')
    .filter(({ outcome }) => outcome !== rehearsed);
  expect(launches).toHaveLength(4);
}, 180_000);

test('and once it works again, it is quiet', async () => {
  await time.sleep(seconds(2));
  const before = world.operatorLoad;
  await time.sleep(seconds(5));
  expect(world.operatorLoad.requests - before.requests).toBeLessThan(10);
  expect(world.operatorLoad.lines - before.lines).toBeLessThan(5);
});

async function running(): Promise<number> {
  const { items } = await world.client.list(pods, { namespace: 'default' });
  return items.filter(({ status }) => status?.phase === 'Running').length;
}

const instances = () => world.cloud.ec2.instances.all.filter(isLive);
const cloudCalls = (): number =>
  ['RunInstances', 'DescribeInstances', 'TerminateInstances']
    .map((action) => world.cloud.ec2.callsOf(action).length)
    .reduce((sum, count) => sum + count, 0);
