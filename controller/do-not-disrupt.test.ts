import { expect, test } from 'vitest';

import type { Pod } from '#schemas/kubernetes/core.ts';
import { annotations } from '#schemas/names.ts';
import { minutes } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { asksToStay } from './do-not-disrupt.ts';
import { condition, pod } from './testing/objects.ts';

const clock = new FakeClock();
const bound = condition('PodScheduled', 'True', { lastTransitionTime: clock.stamp() });

const asking = (text: string, conditions = [bound]): Pod =>
  pod('p', {
    metadata: { annotations: { [annotations.doNotDisrupt]: text } },
    status: { phase: 'Running', conditions },
  });

test('a Pod that says "true" stays, one that says nothing or anything else does not', () => {
  expect(asksToStay(asking('true'), clock)).toBe(true);
  expect(asksToStay(pod('p'), clock)).toBe(false);
  const others = ['false', 'True', '', 'soon', '-5m', '0', 'Never', '5 m'];
  expect(others.filter((text) => asksToStay(asking(text), clock))).toEqual([]);
});

test('a Pod that says how long stays so long from when it was bound', async () => {
  const one = asking('1h30m');
  expect(asksToStay(one, clock)).toBe(true);
  await clock.forward(minutes(90) - 1);
  expect(asksToStay(one, clock)).toBe(true);
  await clock.forward(1);
  expect(asksToStay(one, clock)).toBe(false);
});

test('a Pod of which nobody knows since when it runs stays', () => {
  expect(asksToStay(asking('5m', []), clock)).toBe(true);
});
