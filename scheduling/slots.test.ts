import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { Quantity } from '#schemas/quantity/quantity.ts';

import { AmountTooLarge, Slots } from './slots.ts';
import { solve } from './solve.ts';
import { node, pod, pods, pool, problem, size } from './testing/build.ts';
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

test.each([
  ['1e2000', '1e2000'],
  ['100e998', '100e998'],
  ['1102 digits', '9'.repeat(1102)],
  ['1e2147483647', '1e2147483647'],
])('whatever the API server stores is counted: %s', (_, text) => {
  for (const resource of ['cpu', 'memory']) {
    expect(() => slots.needs({ [resource]: text })).toThrow(AmountTooLarge);
    const [most, least] = [text, `-${text}`].map((one) => slots.has({ [resource]: one }));
    const slot = slots.names.indexOf(resource);
    expect(most?.[slot]).toBe(Number.MAX_SAFE_INTEGER);
    expect(least?.[slot]).toBe(Number.MIN_SAFE_INTEGER);
    expect([...slots.takes({ [resource]: text })]).toEqual([...most!]);
  }
});

describe('one Pod that cannot be counted leaves all others their machine, and its refusal can be read', () => {
  const containers = (memory: string) =>
    ['a', 'b'].map((name) => ({ name, resources: { requests: { memory } } }));

  test.each([
    ['a number of 1102 digits', '9'.repeat(1102), /^asks for 9{20}… \(1102 characters\) of memory/],
    ['an exponent of 2000', '1e2000', /^asks for 1e2000 of memory/],
    ['no number at all', '1e1.5', /^asks for what cannot be read: "1e1.5" is no quantity/],
  ])('%s', (_, memory, message) => {
    const poison = { ...pod('poison', { memory }) };
    const twice = pod('twice', {}, { containers: containers(memory) });
    const plan = planned({ pods: [poison, twice, ...pods(3)], pools: [pool('web')] });
    expect(plan.claims.flatMap(({ pods: keys }) => keys)).toHaveLength(3);
    expect(refusalsOf(plan, 'poison')).toMatchObject([
      { reason: 'Resources', code: 'KPU346', message: expect.stringMatching(message) },
    ]);
    expect(refusalsOf(plan, 'twice')?.[0]?.message.length).toBeLessThan(300);
  });
});

test('a limit beyond what can be counted is as good as none', () => {
  const pools = [pool('web', { limits: { memory: '10000000Gi', cpu: '10' } })];
  expect(planned({ pods: pods(4), pools }).claims).toHaveLength(1);
});

describe('amounts at the end of what a double can count', () => {
  const edge = 2n ** 53n;
  const memory = fc.oneof(
    fc.bigInt({ min: edge - 3n, max: edge + 3n }),
    fc.bigInt({ min: edge / 2n - 3n, max: edge / 2n + 3n }),
    fc.bigInt({ min: 0n, max: 3n }),
  );
  const given = fc.record({
    asked: fc.array(memory, { minLength: 1, maxLength: 6 }),
    there: fc.array(fc.record({ has: memory, used: memory }), { maxLength: 3 }),
    sold: memory,
  });

  test('never make more fit than there is, and what cannot be counted is refused with a code', () => {
    fc.assert(
      fc.property(given, ({ asked, there, sold }) => {
        const plan = solve(
          problem({
            pods: asked.map((bytes, index) => pod(`p${index}`, { memory: `${bytes}` })),
            nodes: there.map(({ has, used }, index) =>
              node(`n${index}`, { memory: `${has}` }, { requested: { memory: `${used}` } }),
            ),
            pools: [
              pool('web', {
                sizes: [{ ...size(8), capacity: { memory: `${sold}`, pods: '100' } }],
              }),
            ],
            bound: [],
          }),
        );
        const bytesOf = (key: string): bigint => asked[Number(key.slice('shop/p'.length))]!;
        const sum = (keys: readonly string[]): bigint =>
          keys.reduce((total, key) => total + bytesOf(key), 0n);
        for (const { pods: keys } of plan.claims) expect(sum(keys) <= sold).toBe(true);
        there.forEach(({ has, used }, index) => {
          const keys = [...plan.nominations].flatMap(([key, name]) =>
            name === `n${index}` ? [key] : [],
          );
          expect(sum(keys) === 0n || sum(keys) + used <= has).toBe(true);
        });
        const tooLarge = asked.flatMap((bytes, index) => (bytes >= edge ? [`shop/p${index}`] : []));
        const coded = [...plan.unschedulable].flatMap(([key, [refusal]]) =>
          refusal?.code === 'KPU346' ? [key] : [],
        );
        expect(coded.toSorted()).toEqual(tooLarge.toSorted());
      }),
      { numRuns: 1000 },
    );
  });
});
