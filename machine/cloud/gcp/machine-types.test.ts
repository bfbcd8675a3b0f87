import { readFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { FactFile } from '#schemas/instances/data/fact-file.ts';
import type { GcpSpec } from '#schemas/nodeclass/types.ts';

import { machineTypeOf } from './machine-types.ts';
import { nestedFamilies, processorFor, usualDisk } from './nested.ts';
import type { GceMachineType } from './resources.ts';

const gcp: GcpSpec = { project: 'demo-1', region: 'europe-west1', subnetwork: 'machines' };
const file = import.meta.resolve('#schemas/instances/data/gcp.jsonl');
const { types: recorded } = new FactFile(readFileSync(new URL(file), 'utf8'));

const sold = (name: string, rest: Partial<GceMachineType> = {}): GceMachineType => ({
  name,
  guestCpus: 8,
  memoryMb: 32_768,
  architecture: 'X86_64',
  ...rest,
});

test('the table of families and what was recorded of each size agree', () => {
  const seen = recorded.map(({ name, vcpus, memoryMiB, architecture }) =>
    machineTypeOf(
      sold(name, {
        guestCpus: vcpus,
        memoryMb: memoryMiB,
        architecture: architecture === 'arm64' ? 'ARM64' : 'X86_64',
      }),
      gcp,
    ),
  );
  expect(seen).toEqual(recorded);
  expect(new Set(recorded.filter(({ nested }) => nested).map(({ family }) => family))).toEqual(
    nestedFamilies,
  );
});

describe('a size', () => {
  test.each([
    ['n2-standard-8', { nested: true, metal: false }],
    ['n2-custom-8-32768', { nested: true, metal: false }],
    ['n2-custom-8-65536-ext', { nested: true, metal: false }],
    ['custom-8-32768', undefined], // of N1 by an older name, whose family is not said
    ['n2d-standard-8', undefined],
    ['e2-standard-8', undefined],
    ['m3-ultramem-32', undefined],
    ['n1-megamem-96', undefined],
    ['z3-highmem-8-highlssd', { nested: true, metal: false }],
    ['c4-standard-288-lssd-metal', { nested: false, metal: true }],
    ['c4d-standard-384-metal', { nested: false, metal: true }], // AMD, and its own hypervisor all the same
    ['metal-1', undefined],
  ])('%s is seen as %j', (name, is) => {
    const found = machineTypeOf(sold(name), gcp);
    expect(found && { nested: found.nested, metal: found.metal }).toEqual(is);
  });

  test('of Arm runs guests on bare metal alone, whatever families a class names', () => {
    const arm = { architecture: 'ARM64' };
    const named = { ...gcp, nestedVirtualizationFamilies: ['c4a'] };
    expect(machineTypeOf(sold('c4a-standard-8', arm), named)).toBeUndefined();
    expect(machineTypeOf(sold('c4a-highmem-96-metal', arm), named)).toMatchObject({
      architecture: 'arm64',
      metal: true,
    });
  });

  test('is of the families that a class names, and of no other; metal counts in any case', () => {
    const named = { ...gcp, nestedVirtualizationFamilies: ['n4', 'h3'] };
    const fits = (name: string): boolean => machineTypeOf(sold(name), named) !== undefined;
    expect(
      ['h3-standard-88', 'n2-standard-8', 'n4-standard-8', 'c3-standard-192-metal'].map(fits),
    ).toEqual([true, false, true, true]);
  });

  test.each([
    ['of a shared core', { isSharedCpu: true }],
    ['that is obsolete', { deprecated: { state: 'OBSOLETE' } }],
    ['that is deleted', { deprecated: { state: 'DELETED' } }],
    ['of an architecture that is none', { architecture: 'RISCV' }],
    ['without memory', { memoryMb: 0 }],
    ['of which nothing is said', { guestCpus: 0, memoryMb: 0 }],
  ])('%s is left out', (_, rest) => {
    expect(machineTypeOf(sold('n2-standard-8', rest), gcp)).toBeUndefined();
  });

  test('that is deprecated can still be had, and one without an architecture is of x86', () => {
    const { architecture: _, ...silent } = sold('n2-standard-8');
    const deprecated = { state: 'DEPRECATED' };
    expect(machineTypeOf({ ...silent, deprecated }, gcp)).toMatchObject({ architecture: 'amd64' });
  });

  test.each([
    ['n2-standard-8', 'pd-balanced', 'pd-ssd', true],
    ['n4-standard-8', 'hyperdisk-balanced', 'pd-ssd', false],
    ['c3-standard-192-metal', 'hyperdisk-balanced', 'pd-ssd', false],
    ['c4-standard-288-metal', 'hyperdisk-balanced', 'hyperdisk-extreme', true],
  ] as const)('%s boots from %s, and whether from %s: %s', (name, usual, type, takes) => {
    expect(usualDisk(name)).toBe(usual);
    const disks = [{ size: '20Gi', type }, { size: '100Gi' }];
    expect(machineTypeOf(sold(name), { ...gcp, disks }) !== undefined).toBe(takes);
  });

  test('of N1 asks for a processor that has what guests need; others have no choice', () => {
    expect(['n1-standard-8', 'n2-standard-8'].map(processorFor)).toEqual([
      'Intel Haswell',
      undefined,
    ]);
  });
});
