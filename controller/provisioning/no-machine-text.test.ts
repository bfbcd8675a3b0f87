import { expect, test } from 'vitest';

import type { Refusal } from '#scheduling/solver.ts';

import { noMachineText } from './no-machine-text.ts';

const refusal = (
  pool: string,
  reason: Refusal['reason'],
  message = `${reason} of ${pool}`,
): Refusal => ({
  pool,
  reason,
  message,
});
const begin = 'No Unikraft machine for this Pod: ';

test('without any pool it says so', () => {
  expect(noMachineText([], [])).toBe(
    'There is no NodePool for Unikraft machines. Apply one that names a UnikraftNodeClass in its nodeClassRef',
  );
});

test('the pool that came nearest comes first, and pools for other Pods are only counted', () => {
  const refusals = [
    refusal('gpu', 'Taints'),
    refusal('arm', 'Requirements'),
    refusal('small', 'Resources'),
    refusal('web', 'Limit'),
  ];
  expect(noMachineText(refusals, [])).toBe(
    `${begin}NodePool web: Limit of web; NodePool small: Resources of small; 2 other pools do not match. Raise that limit, or remove what uses it up`,
  );
});

test('a pool that is not ready is told before pools for other Pods', () => {
  const skipped = [{ pool: 'web', message: 'it is not ready: no subnet' }];
  expect(noMachineText([refusal('gpu', 'Taints')], skipped)).toBe(
    `${begin}NodePool web: it is not ready: no subnet; 1 other pool does not match. Put right what the pool or its node class names`,
  );
});

test('where all pools are for other Pods the nearest one is told', () => {
  const refusals = [refusal('gpu', 'Taints'), refusal('arm', 'Requirements')];
  expect(noMachineText(refusals, [])).toBe(
    `${begin}NodePool arm: Requirements of arm; 1 other pool does not match. Change what the Pod selects, or the pool's requirements`,
  );
});

test('what is the same for several pools is told once', () => {
  const refusals = ['a', 'b'].map((pool) => refusal(pool, 'Unsupported', 'has host ports'));
  expect(noMachineText(refusals, [])).toBe(
    `${begin}NodePools a, b: has host ports. Take that out of the Pod`,
  );
});

test('it never grows beyond what an event can hold', () => {
  const refusals = Array.from({ length: 99 }, (_, index) => refusal(`pool-${index}`, 'Limit'));
  const text = noMachineText(refusals, []);
  expect(text.length).toBeLessThan(1010);
  expect(text).toMatch(/…\. Raise that limit, or remove what uses it up$/);
});

test('a wait that ends by itself asks nothing of anybody', () => {
  const waits = {
    ...refusal('web', 'Backoff', 'waits for the first machine'),
    code: 'KPU349' as const,
  };
  expect(noMachineText([waits], [])).toBe(`${begin}NodePool web: waits for the first machine`);
});
