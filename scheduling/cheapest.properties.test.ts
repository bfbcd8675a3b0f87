/** K50 of docs/reference/karpenter-behaviour.md: whatever is asked for, nothing cheaper would have done. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { InstanceType, MachineType } from '#schemas/instances/instance-type.ts';
import { labelsOf } from '#schemas/instances/labels.ts';
import type { Requirement } from '#schemas/karpenter/types.ts';
import { labels } from '#schemas/names.ts';

import { priceOfClaim } from './price.ts';
import { solve } from './solve.ts';
import type { Plan } from './solver.ts';
import { mustBe, pods, pool, problem } from './testing/build.ts';

const zones = ['1a', '1b', '1c'];
const families = ['m', 'c', 'r'];
const architectures = ['amd64', 'arm64'] as const;

/** Where and at what price a size is sold: dearer in one zone than in another, and sold out in some. */
const offerings = fc.array(
  fc.record({
    zone: fc.constantFrom(...zones),
    cents: fc.integer({ min: 1, max: 500 }),
    available: fc.boolean(),
  }),
  { minLength: 1, maxLength: 3 },
);

const machine = fc.record({
  family: fc.constantFrom(...families),
  vcpus: fc.constantFrom(1, 2, 4, 8, 16),
  architecture: fc.constantFrom(...architectures),
  offerings,
});

const catalog: fc.Arbitrary<InstanceType[]> = fc
  .array(machine, { minLength: 1, maxLength: 12 })
  .map((all) =>
    all.map(({ family, vcpus, architecture, offerings: sold }, index) => {
      const name = `${family}${index}.${vcpus}`;
      const parts = { name, family, vcpus, architecture, metal: false, nested: true };
      const made: MachineType = { ...parts, memoryMiB: vcpus * 4096 };
      return {
        name,
        machine: made,
        offerings: onePerZone(sold).map(({ zone, cents, available }) => ({
          zone,
          zoneID: zone,
          price: cents / 100,
          priceDerived: false,
          available,
        })),
        capacity: { cpu: `${vcpus}`, memory: `${vcpus * 4}Gi`, pods: '100' },
        labels: labelsOf(made),
      };
    }),
  );

function onePerZone<T extends { readonly zone: string }>(all: readonly T[]): T[] {
  return [...new Map(all.map((one) => [one.zone, one])).values()];
}

/** What a pool or a Pod may ask of a machine. */
const constraint: fc.Arbitrary<Requirement> = fc.oneof(
  among(labels.zone, zones),
  among(labels.arch, architectures),
  among(labels.instanceFamily, families),
  fc.record({
    key: fc.constant(labels.instanceVcpus),
    operator: fc.constantFrom('Gt' as const, 'Lt' as const, 'Gte' as const, 'Lte' as const),
    values: fc.constantFrom('1', '2', '4', '8').map((value) => [value]),
  }),
);

function among(key: string, values: readonly string[]): fc.Arbitrary<Requirement> {
  return fc.record({
    key: fc.constant(key),
    operator: fc.constantFrom('In' as const, 'NotIn' as const),
    values: fc.subarray([...values], { minLength: 1, maxLength: values.length - 1 }),
  });
}

const constraints = fc.array(constraint, { maxLength: 2 });

interface Asked {
  readonly sizes: readonly InstanceType[];
  readonly requirements: readonly Requirement[];
  readonly cpu: number;
}

/** Every price at which one machine for the Pod is to be had, by looking at each size in each zone. */
function prices({ sizes, requirements, cpu }: Asked): number[] {
  return sizes.flatMap((size) =>
    size.offerings
      .filter(({ zone, available }) => {
        const own: Record<string, string> = { ...size.labels, [labels.zone]: zone };
        return available && requirements.every((one) => holds(one, own[one.key] ?? ''));
      })
      .flatMap(({ price }) => (size.machine.vcpus >= cpu && price !== undefined ? [price] : [])),
  );
}

function holds({ operator, values = [] }: Requirement, value: string): boolean {
  const [bound] = values.map(Number);
  const meanings: Partial<Record<Requirement['operator'], boolean>> = {
    In: values.includes(value),
    NotIn: !values.includes(value),
    Gt: Number(value) > bound!,
    Gte: Number(value) >= bound!,
    Lt: Number(value) < bound!,
    Lte: Number(value) <= bound!,
  };
  return meanings[operator] ?? false;
}

const cases = fc.record({
  sizes: catalog,
  ofPool: constraints,
  ofPod: constraints,
  cpu: fc.constantFrom(1, 2, 3, 6),
});

describe('K50: the cheapest machine', () => {
  const planFor = (asked: Asked, ofPool: Requirement[], ofPod: Requirement[]): Plan => {
    const sizes = [...asked.sizes];
    const spec = ofPod.length > 0 ? mustBe(...(ofPod as Parameters<typeof mustBe>)) : {};
    return solve(
      problem({
        pods: pods(1, { cpu: `${asked.cpu}` }, spec),
        pools: [pool('web', { sizes, requirements: ofPool })],
        bound: [],
      }),
    );
  };

  test('is got, whoever narrows the choice, and none only where there is none', () => {
    let got = 0;
    fc.assert(
      fc.property(cases, ({ sizes, ofPool, ofPod, cpu }) => {
        const asked = { sizes, requirements: [...ofPool, ...ofPod], cpu };
        const { claims } = planFor(asked, ofPool, ofPod);
        const possible = prices(asked);
        got += claims.length;
        const least = possible.length > 0 ? [Math.min(...possible)] : [];
        expect(claims.map(priceOfClaim)).toEqual(least);
      }),
      { numRuns: 1000 },
    );
    expect(got).toBeGreaterThan(200);
  });

  test('is the first of the sizes that a claim lists, and the others follow by price', () => {
    fc.assert(
      fc.property(cases, ({ sizes, ofPool, ofPod, cpu }) => {
        const asked = { sizes, requirements: [...ofPool, ...ofPod], cpu };
        const [claim] = planFor(asked, ofPool, ofPod).claims;
        fc.pre(claim !== undefined);
        const each = claim.instanceTypes.map((size) =>
          Math.min(...prices({ ...asked, sizes: [size] })),
        );
        expect(each).toEqual(each.toSorted((a, b) => a - b));
        expect(each.length).toBe(
          sizes.filter((size) => prices({ ...asked, sizes: [size] }).length > 0).length,
        );
      }),
      { numRuns: 500 },
    );
  });
});
