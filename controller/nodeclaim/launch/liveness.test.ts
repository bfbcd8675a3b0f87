import { beforeEach, expect, test } from 'vitest';

import { nodeClaims } from '#schemas/karpenter/types.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';
import type { FakeClock } from '#schemas/time/fake-clock.ts';

import { memoryContext } from '../../testing/context.ts';
import { nodeClaim } from '../../testing/objects.ts';
import { ClaimInHand } from '../steps/claim-in-hand.ts';
import { deadlineNow, endOf, leftOf } from './liveness.ts';

let hand: ClaimInHand;
let clock: FakeClock;
beforeEach(() => {
  const memory = memoryContext();
  ({ clock } = memory);
  const claim = memory.client.seed(nodeClaims, nodeClaim('web-1'));
  hand = new ClaimInHand(claim, undefined, memory.context.clusterUid, clock);
});

const come = (...conditions: readonly string[]): void =>
  conditions.forEach((type) => hand.set({ type, status: 'True' }));
const now = (deadlines = {}) => {
  const deadline = deadlineNow(hand, { deadlines });
  return deadline && { condition: deadline.condition, left: leftOf(deadline, clock) };
};

test('each stretch of a launch has its own time, from where it began', async () => {
  await clock.forward(minutes(1));
  expect(now()).toEqual({ condition: 'Launched', left: minutes(4) });
  come('Launched');
  expect(now()).toEqual({ condition: 'InstanceRunning', left: minutes(4) });
  await clock.forward(minutes(1));
  come('InstanceRunning');
  await clock.forward(minutes(5));
  expect(now()).toEqual({ condition: 'PlatformHealthy', left: minutes(15) });
  come('PlatformHealthy');
  expect(now()).toEqual({ condition: 'Registered', left: minutes(10) });
  await clock.forward(minutes(11));
  expect(now()).toEqual({ condition: 'Registered', left: -minutes(1) });
  come('Registered');
  expect(now()).toBeUndefined();
});

test('the node class may set other times, or none', () => {
  expect(now({ launch: '90s' })?.left).toBe(seconds(90));
  expect(now({ healthy: '1h' })?.left).toBe(minutes(5));
  expect(now({ launch: 'Never' })?.left).toBe(Number.POSITIVE_INFINITY);
});

test('without a revision the usual times hold', () => {
  expect(deadlineNow(hand, undefined)?.after).toBe(minutes(5));
});

test('the end says what did not come, in what time, and why', () => {
  const deadline = deadlineNow(hand, { deadlines: { launch: '90s' } });
  expect(deadline && endOf(deadline, 'denied')).toEqual({
    metric: 'launch_timeout',
    reason: 'LaunchDeadlineExceeded',
    message:
      'Launched did not come about within 1.5 min (denied); the claim ends, its machine goes, and another one is ' +
      'tried (KPU320)',
  });
});
