import { beforeEach, expect, test } from 'vitest';

import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { Live, ObjectMeta } from '#schemas/kubernetes/meta.ts';
import { annotations } from '#schemas/names.ts';
import { seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { Burst } from '../reservations/burst.ts';
import { AfterBurst } from './after-burst.ts';

const { signal } = new AbortController();
let clock: FakeClock;
let burst: Burst;
let worked: string[];
let reconciler: AfterBurst;
let metadata: Partial<ObjectMeta>;
beforeEach(() => {
  clock = new FakeClock();
  burst = new Burst(clock);
  worked = [];
  metadata = {};
  const inner = {
    reconcile: async (key: string) => {
      worked.push(key);
      return Promise.resolve({});
    },
  };
  const get = () => ({ metadata: { name: 'a', ...metadata } }) as Live<NodeClaim>;
  reconciler = new AfterBurst(inner, { get }, burst);
});

test('a new claim is worked on once all of its plan are written, be it that some were refused', async () => {
  const written = Promise.withResolvers<void>();
  const plan = burst.during(async () => written.promise);
  expect(await reconciler.reconcile('a', signal)).toEqual({ requeueAfter: 100 });
  written.reject(new Error('refused'));
  await expect(plan).rejects.toThrow('refused');
  expect(await reconciler.reconcile('a', signal)).toEqual({});
  expect(worked).toEqual(['a']);
});

test('of two plans the last one counts', async () => {
  const [one, other] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const plans = [one, other].map(async ({ promise }) => burst.during(async () => promise));
  one.resolve();
  await plans[0];
  expect(burst.isUnderWay).toBe(true);
  other.resolve();
  await plans[1];
  expect(burst.isUnderWay).toBe(false);
});

test('an API server that does not answer holds it back for five seconds', async () => {
  void burst.during(async () => new Promise(() => {}));
  expect(await reconciler.reconcile('a', signal)).toEqual({ requeueAfter: 100 });
  await clock.forward(seconds(5));
  await reconciler.reconcile('a', signal);
  expect(worked).toEqual(['a']);
});

test.each<[string, Partial<ObjectMeta>]>([
  ['is deleted', { deletionTimestamp: '2026-01-01T00:00:00Z' }],
  ['was begun with', { annotations: { [annotations.revision]: 'default-1' } }],
])('a claim that %s is worked on all the while', async (_, seen) => {
  metadata = seen;
  void burst.during(async () => new Promise(() => {}));
  await reconciler.reconcile('a', signal);
  expect(worked).toEqual(['a']);
});
