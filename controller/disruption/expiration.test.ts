import { beforeEach, expect, test } from 'vitest';

import { Metrics } from '#kube/metrics.ts';
import { nodeClaims, type NodeClaim } from '#schemas/karpenter/types.ts';
import { hours, minutes } from '#schemas/time/clock.ts';

import { memoryContext } from '../testing/context.ts';
import { foreignRef, nodeClaim, ourRef } from '../testing/objects.ts';
import { Expiration } from './expiration.ts';

let world: ReturnType<typeof memoryContext>;
let metrics: Metrics;
let controller: Expiration;

beforeEach(() => {
  world = memoryContext();
  metrics = new Metrics();
  controller = new Expiration(world.context, metrics);
});

function seed(spec: Partial<NodeClaim['spec']>): void {
  world.client.seed(
    nodeClaims,
    nodeClaim('web-1', { spec: { nodeClassRef: ourRef, requirements: [], ...spec } }),
  );
}

const isLeaving = (): boolean =>
  world.client.peek(nodeClaims, { name: 'web-1' })?.metadata.deletionTimestamp !== undefined;

test('a claim goes when it is older than expireAfter, not before', async () => {
  seed({ expireAfter: '1h' });
  await world.clock.forward(minutes(50));
  expect(await controller.reconcile('web-1')).toEqual({ requeueAfter: minutes(10) });
  expect(isLeaving()).toBe(false);
  await world.clock.forward(minutes(10));
  await controller.reconcile('web-1');
  expect(isLeaving()).toBe(true);
  expect(world.notes.map(({ reason }) => reason)).toEqual(['DisruptionTerminating']);
  expect(await metrics.text()).toMatch(/nodeclaims_disrupted_total\{.*reason="expired".*\} 1/);
});

test('waits of weeks are cut to what a timer can hold', async () => {
  seed({ expireAfter: '2160h' });
  expect(await controller.reconcile('web-1')).toEqual({ requeueAfter: hours(24) });
});

test.each([{ expireAfter: 'Never' }, {}, { expireAfter: 'some day' }])(
  '%o does not expire',
  async (spec) => {
    seed(spec);
    await world.clock.forward(hours(10_000));
    expect(await controller.reconcile('web-1')).toEqual({});
    expect(isLeaving()).toBe(false);
  },
);

test("another provider's claim is left alone", async () => {
  seed({ expireAfter: '1h', nodeClassRef: foreignRef });
  await world.clock.forward(hours(2));
  await controller.reconcile('web-1');
  expect(isLeaving()).toBe(false);
});
