import fc from 'fast-check';

import type {
  Budget,
  MachineTemplate,
  NodeClaim,
  NodePool,
  Requirement,
} from '../../karpenter/types.ts';
import { labels } from '../../names.ts';
import {
  anyDuration,
  anyLabelValue,
  anyNodeClassRef,
  anyQuantity,
  anyTaint,
  labelKeys,
  mapOf,
  prototypeName,
  someOf,
} from './values.ts';

type Operator = Requirement['operator'];

/** What people write for each kind of key, right and wrong. */
const words: readonly (readonly [keys: readonly string[], values: readonly string[]])[] = [
  [[labels.capacityType], ['on-demand', 'spot', 'reserved', 'On-Demand', 'ondemand', '']],
  [
    [labels.os, 'beta.kubernetes.io/os'],
    ['linux', 'windows', 'darwin', 'Linux'],
  ],
  [
    [labels.arch, 'beta.kubernetes.io/arch'],
    ['amd64', 'arm64', 's390x', 'x86_64', 'aarch64'],
  ],
  [
    [labels.virtualKubelet, labels.nestedVirtualization],
    ['true', 'false', 'yes', '1'],
  ],
  [
    [labels.instanceVcpus, labels.instanceMemory],
    ['0', '1', '8', '4096', '4097', '67108864', '99999999', '08', '64Gi', 'many'],
  ],
  [
    [labels.zone, labels.region, labels.instanceType, labels.instanceFamily],
    ['eu-central-1a', 'eu-central-1b', 'm8i', '7'],
  ],
  [
    ['team', 'example.com/team', 'constructor', 'toString', 'hasOwnProperty'],
    ['a', 'b', 'c', 'constructor', 'length'],
  ],
];

const byValues: readonly Operator[] = ['In', 'NotIn'];
const byPresence: readonly Operator[] = ['Exists', 'DoesNotExist'];
const byNumber: readonly Operator[] = ['Gt', 'Lt', 'Gte', 'Lte'];

/** As the CRD lets pass: In and NotIn with values, Gt and its like with one number. */
const anyRequirement: fc.Arbitrary<Requirement> = fc
  .constantFrom(...words)
  .chain(([keys, values]) => {
    const key = fc.constantFrom(...keys);
    const minValues = fc.constantFrom(1, 2, 3);
    return fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({
          key,
          operator: fc.constantFrom(...byValues),
          values: fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 3 }),
        }),
      },
      {
        weight: 2,
        arbitrary: fc.record(
          {
            key,
            operator: fc.constantFrom(...byPresence),
            minValues,
            // The CRD lets them stand here, though they mean nothing to Karpenter.
            values: fc.uniqueArray(fc.constantFrom(...values), { maxLength: 2 }),
          },
          { requiredKeys: ['key', 'operator'] },
        ),
      },
      {
        weight: 2,
        arbitrary: fc.record({
          key,
          operator: fc.constantFrom(...byNumber),
          values: fc
            .constantFrom('0', '1', '4', '4095', '4096', '4097', '67108864', '99999999')
            .map((one) => [one]),
        }),
      },
    );
  });

const anyRequirements = fc.array(anyRequirement, { maxLength: 4 });

const anyTemplate = fc
  .tuple(
    fc.record({ nodeClassRef: anyNodeClassRef, requirements: anyRequirements }),
    someOf<
      Pick<MachineTemplate, 'taints' | 'startupTaints' | 'expireAfter' | 'terminationGracePeriod'>
    >({
      taints: fc.array(anyTaint, { maxLength: 3 }),
      startupTaints: fc.array(anyTaint, { maxLength: 2 }),
      expireAfter: fc.oneof(anyDuration, fc.constant('Never')),
      terminationGracePeriod: anyDuration,
    }),
  )
  .map(([needed, optional]): MachineTemplate => ({ ...needed, ...optional }));

/** A schedule and its duration stand together or not at all. */
const anyBudget: fc.Arbitrary<Budget> = fc
  .tuple(
    fc.record(
      {
        nodes: fc.constantFrom('0', '0%', '00', '1', '10%', '100%'),
        reasons: fc.uniqueArray(
          fc.constantFrom('Empty' as const, 'Drifted' as const, 'Underutilized' as const),
          { maxLength: 3 },
        ),
      },
      { requiredKeys: ['nodes'] },
    ),
    fc.option(
      fc.record({
        schedule: fc.constantFrom(
          '0 9 * * 1-5',
          '@daily',
          '@dailyish',
          'TZ=UTC 0 9 * * *',
          '* * * * * *',
          '0 0 L * ?',
          '*/5 9-17 * * MON-FRI',
        ),
        duration: fc.constantFrom('8h', '24h', '90m', '1h30m0s'),
      }),
    ),
  )
  .map(([budget, window]) => ({ ...budget, ...window }));

const anyDisruption = someOf<NonNullable<NodePool['spec']['disruption']>>({
  consolidateAfter: fc.oneof(anyDuration, fc.constant('Never')),
  consolidationPolicy: fc.constantFrom('WhenEmpty', 'WhenEmptyOrUnderutilized'),
  budgets: fc.array(anyBudget, { maxLength: 3 }),
});

/** Limits may be numbers as well as text. */
const anyLimits = mapOf(
  ['cpu', 'memory', 'nodes', 'pods', 'constructor'],
  fc.oneof(
    anyQuantity,
    fc.constantFrom('-1', '0Gi'),
    fc.constantFrom(0, 1, 64) as unknown as fc.Arbitrary<string>,
  ),
);

export const anyPool: fc.Arbitrary<NodePool> = fc
  .record({
    template: anyTemplate,
    labels: fc.option(mapOf([...labelKeys, prototypeName], anyLabelValue), { nil: undefined }),
    annotations: fc.option(
      mapOf(
        ['note', 'constructor', 'karpenter.sh/do-not-disrupt', 'kustomize.toolkit.fluxcd.io/name'],
        fc.constantFrom('true', 'false', 'a'),
      ),
      { nil: undefined },
    ),
    disruption: fc.option(anyDisruption, { nil: undefined }),
    limits: fc.option(anyLimits, { nil: undefined }),
    weight: fc.option(fc.integer({ min: 1, max: 100 }), { nil: undefined }),
  })
  .map(({ template, labels: own, annotations, ...rest }) =>
    withoutUndefined<NodePool>({
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodePool',
      metadata: { name: 'sample' },
      spec: { template: { metadata: { labels: own, annotations }, spec: template }, ...rest },
    }),
  );

export const anyClaim: fc.Arbitrary<NodeClaim> = fc
  .record({
    spec: anyTemplate,
    labels: mapOf(['team', labels.capacityType, labels.nodePool], anyLabelValue),
  })
  .map(({ spec, labels: own }) => ({
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: { name: 'sample', labels: own },
    spec,
  }));

type Loose<T> = T extends object ? { [K in keyof T]: Loose<T[K]> | undefined } : T;

/** As JSON has it; a plain round trip would keep an own `__proto__` too, and does. */
function withoutUndefined<T>(value: Loose<T>): T {
  return JSON.parse(JSON.stringify(value)) as T;
}
