import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { Quantity } from '#schemas/quantity/quantity.ts';

import { AmountTooLarge, Slots } from './slots.ts';
import { pods, pool, size } from './testing/build.ts';
import { planned, refusalsOf } from './testing/plans.ts';

const slots = new Slots(['cpu', 'memory']);
const text = fc
  .tuple(fc.nat(8_000), fc.constantFrom('', 'n', 'u', 'm', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi'))
  .map(([digits, suffix]) => `${digits}${suffix}`);

describe('numbers for quantities', () => {
  test('are rounded up where something is asked for, and down where it is offered', () => {
    expect([...slots.needs({ cpu: '100500u', memory: '1500m' })]).toEqual([101, 2]);
    expect([...slots.has({ cpu: '100500u', memory: '1500m' })]).toEqual([100, 1]);
    expect([...slots.takes({ cpu: '1', memory: '1e3', gpu: '1' })]).toEqual([1000, 1000]);
  });

  test('never make more fit than there is', () => {
    fc.assert(
      fc.property(text, text, (asked, offered) => {
        const [needs] = slots.needs({ cpu: asked });
        const [has] = slots.has({ cpu: offered });
        fc.pre(needs! <= has!);
        expect(Quantity.parse(asked).compareTo(Quantity.parse(offered))).toBeLessThanOrEqual(0);
      }),
    );
  });

  test('that are whole are exact', () => {
    fc.assert(
      fc.property(fc.nat(8_000), fc.constantFrom('', 'k', 'Ki', 'Mi', 'Gi'), (digits, suffix) => {
        const memory = `${digits}${suffix}`;
        const { memory: again = '0' } = slots.toList(slots.needs({ memory }));
        expect(Quantity.parse(again).compareTo(Quantity.parse(memory))).toBe(0);
      }),
    );
  });

  // 2^53 + 1 is the first whole number that a double cannot hold: it would become 2^53.
  test('that a double cannot hold are refused, or count as the most that it can', () => {
    const beyond = `${2n ** 53n + 1n}`;
    expect(() => slots.needs({ memory: beyond })).toThrow(AmountTooLarge);
    expect(slots.has({ memory: beyond })[1]).toBe(Number.MAX_SAFE_INTEGER);
    expect(slots.takes({ cpu: '9E' })[0]).toBe(Number.MAX_SAFE_INTEGER);
  });
});

test('a Pod that asks for more than can be counted is refused, however much there is', () => {
  const endless = { ...size(8), capacity: { ...size(8).capacity, memory: '9Ei' } };
  const plan = planned({
    pods: pods(1, { memory: `${2n ** 53n + 1n}` }),
    pools: [pool('web', { sizes: [endless] })],
  });
  expect(refusalsOf(plan, 'p0')).toEqual([
    {
      pool: 'web',
      reason: 'Resources',
      resource: 'memory',
      code: 'KPU346',
      message: 'asks for 9007199254740993 of memory, which is more than can be counted exactly',
    },
  ]);
});

test('a limit beyond what can be counted is as good as none', () => {
  const pools = [pool('web', { limits: { memory: '10000000Gi', cpu: '10' } })];
  expect(planned({ pods: pods(4), pools }).claims).toHaveLength(1);
});
