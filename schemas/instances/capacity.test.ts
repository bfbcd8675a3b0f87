import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { PlatformSpec } from '../nodeclass/types.ts';
import { Quantity } from '../quantity/quantity.ts';
import { capacityOf, quotasFor } from './capacity.ts';
import type { MachineType } from './instance-type.ts';

function machine(vcpus: number, memoryGiB: number): MachineType {
  return {
    name: 'm8i.large',
    family: 'm8i',
    vcpus,
    memoryMiB: memoryGiB * 1024,
    architecture: 'amd64',
    metal: false,
    nested: true,
  };
}

describe('what a machine of 16 vCPU and 64 GiB offers', () => {
  test.each<[string, PlatformSpec | undefined, number, string]>([
    ['without a word: all but 2 vCPU and 4 GiB', undefined, 14, '60Gi'],
    ['with its own overhead', { overhead: { vcpus: 4 } }, 12, '60Gi'],
    ['four times its vCPUs', { capacity: { vcpus: '400%', memory: '100%' } }, 56, '60Gi'],
    ['half of it, in whole units', { capacity: { vcpus: '33%', memory: '50%' } }, 4, '30Gi'],
    ['no more than it has', { capacity: { vcpus: 64, memory: '256Gi' } }, 14, '60Gi'],
    ['no more than it may', { capacity: { vcpus: '8', memory: '10.5Gi' } }, 8, '10752Mi'],
    ['never more by rounding', { capacity: { vcpus: '7.9', memory: '1500k' } }, 7, '1Mi'],
  ])('%s', (_, platform, vcpus, memory) => {
    const quotas = quotasFor(machine(16, 64), platform);
    expect(quotas?.vcpus).toBe(vcpus);
    expect(Quantity.parse(`${quotas?.memoryMiB}Mi`).compareTo(Quantity.parse(memory))).toBe(0);
  });
});

test('a machine that is all overhead is too small', () => {
  expect(quotasFor(machine(2, 8), undefined)).toBeUndefined();
  expect(quotasFor(machine(4, 4), undefined)).toBeUndefined();
  expect(quotasFor(machine(4, 8), { capacity: { vcpus: '1%' } })).toBeUndefined();
});

test('a Node counts Pods, and storage only when the class says so', () => {
  const platform = { capacity: { volumeStorage: '500Gi', instances: 200 } };
  const quotas = quotasFor(machine(4, 8), platform);
  if (!quotas) throw new Error('the machine is large enough');
  expect(capacityOf(quotas, platform)).toEqual({ cpu: '2', memory: '4096Mi', pods: '200' });
  expect(capacityOf(quotas, { ...platform, advertiseStorage: true })).toMatchObject({
    'ephemeral-storage': '512000Mi',
  });
});

test('what the schema would have refused is refused here too', () => {
  expect(() => quotasFor(machine(4, 8), { capacity: { memory: 'lots' } })).toThrow('no quantity');
});

test('a larger machine never offers less, whatever the class says', () => {
  const cap = fc.oneof(
    fc.integer({ min: 1, max: 999 }).map((percent) => `${percent}%`),
    fc.integer({ min: 1, max: 64 }).map(String),
  );
  fc.assert(
    fc.property(
      fc.integer({ min: 4, max: 200 }),
      fc.nat({ max: 100 }),
      cap,
      (vcpus, more, limit) => {
        const platform = { capacity: { vcpus: limit } };
        const [small, large] = [vcpus, vcpus + more].map((count) =>
          quotasFor(machine(count, 64), platform),
        );
        expect(large?.vcpus ?? 0).toBeGreaterThanOrEqual(small?.vcpus ?? 0);
      },
    ),
  );
});
