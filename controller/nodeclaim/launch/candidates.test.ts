import fc from 'fast-check';
import { expect, test } from 'vitest';

import { priceOfClaim } from '#scheduling/price.ts';
import { solve } from '#scheduling/solve.ts';
import { anyProblem } from '#scheduling/testing/arbitrary.ts';
import { capacityOf } from '#schemas/instances/capacity.ts';
import type { InstanceType, Offering } from '#schemas/instances/instance-type.ts';
import { labelsOf } from '#schemas/instances/labels.ts';
import type { NodeClaim, Requirement } from '#schemas/karpenter/types.ts';
import { labels } from '#schemas/names.ts';

import type { Offer } from '../../catalog.ts';
import { machineType } from '../../testing/fake-cloud.ts';
import { nodeClaim, nodeClassSpec, ourRef } from '../../testing/objects.ts';
import { candidatesFor } from './candidates.ts';

const [zoneA, zoneB] = ['eu-central-1a', 'eu-central-1b'];
const offering = (zone: string, price: number | undefined, available = true): Offering => ({
  zone,
  zoneID: `id-of-${zone}`,
  price,
  priceDerived: false,
  available,
});

function size(name: string, vcpus: number, offerings: readonly Offering[]): InstanceType {
  const machine = machineType(name, vcpus + 2, 16);
  const quotas = { vcpus, memoryMiB: 8192, volumeStorageMiB: 0, instances: 1000 };
  const capacity = capacityOf(quotas, undefined);
  return { name, machine, offerings, capacity, labels: labelsOf(machine) };
}

function offer(...instanceTypes: readonly InstanceType[]): Offer {
  return {
    revision: 'default-r1',
    instanceTypes,
    nodeClass: {
      nodeClass: 'default',
      spec: nodeClassSpec(),
      image: { id: 'ami-1', architecture: 'amd64', rootDeviceName: '/dev/xvda' },
      subnets: [zoneA, zoneB].map((zone) => ({ id: `in-${zone}`, zone, zoneID: '' })),
      securityGroups: [],
      dnsZoneID: 'Z1',
    },
  };
}

const claim = (requirements: Requirement[] = [], requests = {}): NodeClaim =>
  nodeClaim('web-1', { spec: { nodeClassRef: ourRef, requirements, resources: { requests } } });
const namesOf = (of: NodeClaim, from: Offer): string[] =>
  candidatesFor(of, from).map(({ candidate }) => `${candidate.instanceType} ${candidate.zone}`);

test('T25: cheap comes before dear, known prices before unknown ones, and equal ones go by name', () => {
  const from = offer(
    size('m8i.xlarge', 8, [offering(zoneA, 0.4)]),
    size('z1d.large', 4, [offering(zoneA, undefined)]),
    size('m8i.large', 4, [offering(zoneB, 0.2), offering(zoneA, 0.2)]),
    size('c8i.large', 4, [offering(zoneA, 0.2)]),
  );
  expect(namesOf(claim(), from)).toEqual([
    `c8i.large ${zoneA}`,
    `m8i.large ${zoneA}`,
    `m8i.large ${zoneB}`,
    `m8i.xlarge ${zoneA}`,
    `z1d.large ${zoneA}`,
  ]);
});

test('a candidate names the subnet of its zone; a zone without one is none', () => {
  const from = offer(size('m8i.large', 4, [offering(zoneB, 1), offering('eu-central-1c', 1)]));
  expect(candidatesFor(claim(), from).map(({ candidate }) => candidate)).toEqual([
    { instanceType: 'm8i.large', zone: zoneB, subnet: `in-${zoneB}`, metal: false },
  ]);
});

test('what has no capacity now is left out', () => {
  const from = offer(size('m8i.large', 4, [offering(zoneA, 1, false), offering(zoneB, 2)]));
  expect(namesOf(claim(), from)).toEqual([`m8i.large ${zoneB}`]);
});

test('a size must hold all that is asked for', () => {
  const from = offer(
    size('m8i.large', 4, [offering(zoneA, 1)]),
    size('m8i.xlarge', 8, [offering(zoneA, 2)]),
  );
  expect(namesOf(claim([], { cpu: '4001m' }), from)).toEqual([`m8i.xlarge ${zoneA}`]);
  expect(namesOf(claim([], { cpu: '9' }), from)).toEqual([]);
  expect(namesOf(claim([], { 'example.com/gpu': '1' }), from)).toEqual([]);
});

test.each<[string, Requirement, string[]]>([
  ['a zone', { key: labels.zone, operator: 'In', values: [zoneB] }, [`m8i.large ${zoneB}`]],
  ['not a zone', { key: labels.zone, operator: 'NotIn', values: [zoneB] }, [`m8i.large ${zoneA}`]],
  ['another size', { key: labels.instanceType, operator: 'In', values: ['x9.large'] }, []],
  ['spot', { key: labels.capacityType, operator: 'In', values: ['spot'] }, []],
  ['another region', { key: labels.region, operator: 'In', values: ['eu-west-1'] }, []],
  ['few vCPUs', { key: labels.instanceVcpus, operator: 'Lt', values: ['6'] }, []],
  [
    'a label of the pool’s own',
    { key: 'team', operator: 'In', values: ['shop'] },
    [`m8i.large ${zoneA}`, `m8i.large ${zoneB}`],
  ],
])('a claim that asks for %s gets what is so', (_, requirement, expected) => {
  const from = offer(size('m8i.large', 4, [offering(zoneA, 1), offering(zoneB, 1)]));
  expect(namesOf(claim([requirement]), from)).toEqual(expected);
});

test('F25: what is planned can be launched, at the price that was planned', () => {
  let claims = 0;
  fc.assert(
    fc.property(anyProblem, (problem) => {
      for (const planned of solve(problem).claims) {
        claims += 1;
        const { instanceTypes = [] } =
          problem.pools.find(({ pool }) => pool.metadata?.name === planned.nodePool) ?? {};
        const from = offer(...instanceTypes);
        const subnets = ['1a', '1b', '1c'].map((zone) => ({ id: zone, zone, zoneID: '' }));
        const made = claim([...planned.requirements], planned.requests);
        const [first] = candidatesFor(made, { ...from, nodeClass: { ...from.nodeClass, subnets } });
        expect(first?.price).toBe(priceOfClaim(planned));
      }
    }),
  );
  expect(claims).toBeGreaterThan(50);
});
