import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { Quantity } from '../quantity/quantity.ts';
import { capped, cappedCapacity, limitsOf, machineCapOf, smallerCap } from './ceilings.ts';
import { quotaPolicy } from './samples.ts';
import type { Membership } from './selector.ts';
import { selects } from './selector.ts';
import type { UnikraftQuotaPolicy } from './types.ts';

const shop: Membership = {
  nodePool: { name: 'web', labels: { team: 'shop' } },
  nodeClass: 'default',
};

describe('whom a policy means', () => {
  const means = (selector: UnikraftQuotaPolicy['spec']['selector'], of: Membership = shop) =>
    selects(quotaPolicy(selector ? { selector } : {}), of);
  const everybody = quotaPolicy();
  delete everybody.spec.selector;

  test('everybody, unless it selects', () => {
    expect(selects(everybody, shop)).toBe(true);
    expect(selects(everybody, { nodePool: undefined, nodeClass: 'other' })).toBe(true);
  });

  test('what all of its parts select', () => {
    expect(means({ nodePools: { names: ['web'], matchLabels: { team: 'shop' } } })).toBe(true);
    expect(means({ nodePools: { names: ['batch'], matchLabels: { team: 'shop' } } })).toBe(false);
    expect(means({ nodePools: { names: ['web'] }, nodeClasses: ['gpu'] })).toBe(false);
    expect(means({ nodeClasses: ['default'] })).toBe(true);
  });

  test('no claim without a pool where it selects pools', () => {
    expect(means({ nodePools: { names: ['web'] } }, { ...shop, nodePool: undefined })).toBe(false);
  });

  test('the machines of a pool that is gone, as long as its labels might have matched', () => {
    const gone = { ...shop, nodePool: { name: 'web', labels: undefined } };
    expect(means({ nodePools: { matchLabels: { team: 'other' } } }, gone)).toBe(true);
    expect(means({ nodePools: { names: ['batch'] } }, gone)).toBe(false);
  });

  test('nobody by a label that every JavaScript object seems to have', () => {
    expect(means({ nodePools: { matchLabels: { constructor: 'x' } } })).toBe(false);
  });
});

const enforcement = fc.constantFrom('Deny', 'Cap', 'Warn', 'Audit');
const cpu = fc.oneof(
  fc.nat(100),
  fc.nat(100).map(String),
  fc.nat(99_999).map((milli) => `${milli}m`),
);
const memory = fc.nat(64).map((gibibytes) => `${gibibytes}Gi`);
const optional = <T>(amount: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(amount, { nil: undefined });

const policies = fc.array(
  fc
    .record({
      name: fc.constantFrom('a', 'b', 'c', 'd'),
      enforcement,
      cpu: optional(cpu),
      nodes: optional(fc.nat(20)),
      vcpus: optional(fc.integer({ min: 1, max: 64 })),
      memory: optional(memory),
    })
    .map(({ name, enforcement: how, vcpus, memory: most, ...sums }) =>
      quotaPolicy(
        {
          enforcement: how,
          ceilings: {
            perMachine: defined({ vcpus, memory: most }),
            perNodePool: defined(sums),
          },
        },
        name,
      ),
    ),
  { maxLength: 6 },
);

function defined<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

const own = fc.record({ cpu, memory }, { requiredKeys: [] }).map((limits) => {
  const texts = Object.entries(limits).map(([name, amount]) => [name, String(amount)]);
  return Object.fromEntries(texts) as Record<string, string>;
});

describe('limits of a pool', () => {
  test('are its own where nobody says less, and name who says less', () => {
    expect(limitsOf({ cpu: '256', memory: '1Ti' }, [quotaPolicy()], shop)).toEqual([
      { resource: 'cpu', amount: '256' },
      { resource: 'memory', amount: '1Ti' },
      { resource: 'nodes', amount: '20', policy: 'team-shop' },
    ]);
    expect(limitsOf({ cpu: '1k' }, [quotaPolicy()], shop)[0]).toEqual({
      resource: 'cpu',
      amount: '256',
      policy: 'team-shop',
    });
  });

  test('are the smallest of all, in whatever order they come', () => {
    fc.assert(
      fc.property(own, policies, (limits, all) => {
        const effective = limitsOf(limits, all, shop);
        const enforced = all.filter(({ spec }) => ['Deny', 'Cap'].includes(spec.enforcement));
        for (const { resource, amount } of effective) {
          const said = [
            limits[resource],
            ...enforced.map(({ spec }) => valueOf(spec.ceilings.perNodePool, resource)),
          ].flatMap((text) => (text === undefined ? [] : [Quantity.parse(text)]));
          const least = said.reduce((a, b) => (a.compareTo(b) <= 0 ? a : b));
          expect(Quantity.parse(amount).compareTo(least)).toBe(0);
        }
        const byName = (a: { resource: string }, b: { resource: string }): number =>
          a.resource < b.resource ? -1 : 1;
        expect(limitsOf(limits, all.toReversed(), shop).toSorted(byName)).toEqual(
          effective.toSorted(byName),
        );
      }),
    );
  });

  test('never grow by another policy, and know nothing of those that only tell', () => {
    fc.assert(
      fc.property(own, policies, policies, (limits, some, more) => {
        const [before, after] = [some, [...some, ...more]].map(
          (all) => new Map(limitsOf(limits, all, shop).map((one) => [one.resource, one.amount])),
        );
        for (const [resource, amount] of before ?? []) {
          const now = Quantity.parse(after?.get(resource) ?? 'missing');
          expect(now.compareTo(Quantity.parse(amount))).toBeLessThanOrEqual(0);
        }
        const telling = more.filter(({ spec }) => ['Warn', 'Audit'].includes(spec.enforcement));
        expect(limitsOf(limits, [...some, ...telling], shop)).toEqual(limitsOf(limits, some, shop));
      }),
    );
  });
});

function valueOf(amounts: object | undefined, name: string): string | number | undefined {
  return Object.entries(amounts ?? {}).find(([key]) => key === name)?.[1] as string | undefined;
}

describe('what one machine may offer', () => {
  const quotas = { vcpus: 14, memoryMiB: 61_440, volumeStorageMiB: 512_000, instances: 1000 };

  test('is cut to the ceilings, in whole MiB', () => {
    const policy = quotaPolicy({ ceilings: { perMachine: { vcpus: 8, memory: '1.5Gi' } } });
    const cap = machineCapOf([policy], shop);
    expect(cap).toEqual({ vcpus: 8, memoryMiB: 1536 });
    expect(capped(quotas, cap)).toEqual({ ...quotas, vcpus: 8, memoryMiB: 1536 });
  });

  test('is nothing where a ceiling leaves less than a MiB', () => {
    const policy = quotaPolicy({ ceilings: { perMachine: { memory: '1000k' } } });
    const cap = machineCapOf([policy], shop);
    expect(capped(quotas, cap)).toBeUndefined();
    expect(cappedCapacity({ memory: '4Mi' }, cap)).toBeUndefined();
  });

  test('is as much on the Node as in the user data, and never more than either says', () => {
    fc.assert(
      fc.property(policies, fc.integer({ min: 1, max: 128 }), (all, vcpus) => {
        const cap = machineCapOf(all, shop);
        const machine = capped({ ...quotas, vcpus }, cap);
        const node = cappedCapacity({ cpu: `${vcpus}`, memory: '61440Mi', pods: '1000' }, cap);
        expect(node).toEqual(
          machine && {
            cpu: `${machine.vcpus}`,
            memory: `${machine.memoryMiB}Mi`,
            pods: `${machine.instances}`,
          },
        );
        expect(machine?.vcpus ?? 0).toBeLessThanOrEqual(Math.min(vcpus, cap.vcpus ?? vcpus));
        expect(smallerCap(smallerCap(quotas, cap), cap)).toEqual(smallerCap(quotas, cap));
      }),
    );
  });
});
