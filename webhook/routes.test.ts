import { expect, test } from 'vitest';

import { seconds } from '#schemas/time/clock.ts';

import type { Hook } from './hooks.ts';
import { allow } from './review.ts';
import { Routes } from './routes.ts';

const hook: Hook = { decide: () => allow, sheds: true };
const routes = (): Routes => new Routes({ '/mutate/pods': hook });

test('an address is a path and how long it may take, however often it is asked', () => {
  const asked = routes();
  for (const round of [1, 2]) {
    expect(asked.of('/mutate/pods?timeout=2s'), `round ${round}`).toEqual({
      path: '/mutate/pods',
      hook,
      time: seconds(1.8),
    });
    expect(asked.of('/mutate/pods').time).toBe(seconds(9));
  }
});

test.each(['/mutate/Pods', '/mutate/pods/', '/', '', 'constructor', '__proto__'])(
  'nothing is served at %j',
  (url) => {
    expect(routes().of(url).hook).toBeUndefined();
  },
);

test('a flood of new addresses is answered and not kept', () => {
  const asked = routes();
  const first = asked.of('/mutate/pods?timeout=1s');
  for (let index = 0; index < 1000; index++) asked.of(`/mutate/pods?timeout=1s&n=${index}`);
  expect(asked.of('/mutate/pods?timeout=1s')).toBe(first);
  expect(asked.of('/mutate/pods?n=999')).not.toBe(asked.of('/mutate/pods?n=999'));
});
