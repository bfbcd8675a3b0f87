/** Pods that wait for a node: groups of alike ones, each kind of request and selection among them. */
import fc from 'fast-check';

import type {
  NodeSelectorRequirement,
  Pod,
  PodSpec,
  Toleration,
} from '#schemas/kubernetes/core.ts';
import { labels, taints } from '#schemas/names.ts';

import { requiredRules, wishedRules } from './rules.ts';
import {
  dedicated,
  device,
  heavyRuntime,
  ofApp,
  podLabels,
  rack,
  racks,
  seldom,
  space,
  tier,
  zones,
  type Labels,
} from './terms.ts';

/** A field that the core types leave out, since the product never reads it. */
type Spec = PodSpec & { runtimeClassName?: string };

const image = 'example.com/app';
const cpu = fc.constantFrom('250m', '500m', '1', '3');

/** Each way in which a Pod can ask for room. */
const requests: fc.Arbitrary<Spec> = fc.oneof(
  { weight: 8, arbitrary: cpu.map((amount) => containers({ cpu: amount })) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(cpu, fc.constantFrom('1Gi', '6Gi'))
      .map(([amount, memory]) => containers({ cpu: amount, memory })),
  },
  {
    weight: 1,
    arbitrary: cpu.map((amount) => ({
      containers: [{ name: 'app', image, resources: { limits: { cpu: amount, memory: '1Gi' } } }],
    })),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(cpu, cpu).map(([first, amount]) => ({
      ...containers({ cpu: amount }),
      initContainers: [
        { name: 'side', image, restartPolicy: 'Always', resources: { requests: { cpu: '250m' } } },
        { name: 'first', image, resources: { requests: { cpu: first } } },
      ],
    })),
  },
  {
    weight: 1,
    arbitrary: cpu.map((amount) => ({
      ...containers({}),
      resources: { requests: { cpu: amount, memory: '512Mi' } },
    })),
  },
  {
    weight: 1,
    arbitrary: cpu.map((amount) => ({
      ...containers({ cpu: amount }),
      runtimeClassName: heavyRuntime,
    })),
  },
  {
    weight: 1,
    arbitrary: cpu.map((amount) => containers({ cpu: amount, 'ephemeral-storage': '6Gi' })),
  },
  { weight: 1, arbitrary: cpu.map((amount) => deviceOf(amount)) },
  { weight: 1, arbitrary: fc.constant(containers({})) },
);

function containers(wanted: Labels): Spec {
  return { containers: [{ name: 'app', image, resources: { requests: wanted } }] };
}

/** Extended resources need a limit. */
function deviceOf(amount: string): Spec {
  const resources = { requests: { cpu: amount, [device]: '1' }, limits: { [device]: '1' } };
  return { containers: [{ name: 'app', image, resources }] };
}

const someZones = fc.subarray([...zones], { minLength: 1, maxLength: 2 });

const expression: fc.Arbitrary<NodeSelectorRequirement> = fc.oneof(
  someZones.map((values) => ({ key: labels.zone, operator: 'In' as const, values })),
  someZones.map((values) => ({ key: labels.zone, operator: 'NotIn' as const, values })),
  fc
    .constantFrom('1', '3', '5')
    .map((value) => ({ key: labels.instanceVcpus, operator: 'Gt' as const, values: [value] })),
  fc
    .constantFrom('3', '5')
    .map((value) => ({ key: labels.instanceVcpus, operator: 'Lt' as const, values: [value] })),
  fc
    .constantFrom('Exists' as const, 'DoesNotExist' as const)
    .map((operator) => ({ key: tier, operator })),
  fc
    .constantFrom(...racks)
    .map((value) => ({ key: rack, operator: 'In' as const, values: [value] })),
  fc
    .constantFrom(...racks)
    .map((value) => ({ key: rack, operator: 'NotIn' as const, values: [value] })),
);
const expressions = fc
  .array(expression, { minLength: 1, maxLength: 2 })
  .map((matchExpressions) => ({ matchExpressions }));

const selection: fc.Arbitrary<Partial<PodSpec>> = fc.oneof(
  { weight: 12, arbitrary: fc.constant({}) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(...zones).map((zone) => ({ nodeSelector: { [labels.zone]: zone } })),
  },
  { weight: 1, arbitrary: fc.constant({ nodeSelector: { [tier]: 'gold' } }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(...racks).map((one) => ({ nodeSelector: { [rack]: one } })),
  },
  {
    weight: 2,
    arbitrary: fc
      .array(expressions, { minLength: 1, maxLength: 2 })
      .map((nodeSelectorTerms) =>
        onNodes({ requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } }),
      ),
  },
  {
    weight: 1,
    arbitrary: fc
      .array(fc.record({ weight: fc.integer({ min: 1, max: 3 }), preference: expressions }), {
        minLength: 1,
        maxLength: 2,
      })
      .map((preferred) => onNodes({ preferredDuringSchedulingIgnoredDuringExecution: preferred })),
  },
);

function onNodes(
  nodeAffinity: NonNullable<NonNullable<PodSpec['affinity']>['nodeAffinity']>,
): Partial<PodSpec> {
  return { affinity: { nodeAffinity } };
}

/** Everyone tolerates Kraftlet's taint, few a pool's own. */
const tolerations: fc.Arbitrary<Toleration[]> = fc
  .oneof(
    { weight: 4, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.constant([{ ...dedicated, operator: 'Equal' as const }]) },
    { weight: 1, arbitrary: fc.constant([{ key: dedicated.key, operator: 'Exists' as const }]) },
  )
  .map((own) => [{ key: taints.kraftlet.key, operator: 'Exists' as const }, ...own]);

export const hostPort = seldom(
  fc.record({ hostPort: fc.constantFrom(80, 81), hostIP: seldom(fc.constant('10.0.0.1')) }),
);

const group = fc.record({
  requests,
  selection,
  tolerations,
  required: requiredRules,
  wished: wishedRules,
  port: hostPort,
  own: podLabels,
  namespace: space,
  count: fc.integer({ min: 1, max: 5 }),
});

/** @param max  groups at most, of at most five Pods each */
export function waitingPods(max: number): fc.Arbitrary<Pod[]> {
  return fc.array(group, { minLength: 1, maxLength: max }).map((groups) =>
    groups.flatMap(({ count, own, namespace, port, ...parts }, index) =>
      Array.from({ length: count }, (_, each) => ({
        metadata: { namespace, name: `g${index}-${each}`, labels: own },
        spec: withPort(ofApp(specOf(parts), own['app'] ?? ''), port),
      })),
    ),
  );
}

interface Parts {
  readonly requests: Spec;
  readonly selection: Partial<PodSpec>;
  readonly tolerations: Toleration[];
  readonly required: Partial<PodSpec>;
  readonly wished: Partial<PodSpec>;
}

function specOf({
  requests: room,
  selection: where,
  tolerations: borne,
  required,
  wished,
}: Parts): Spec {
  const spread = [
    ...(required.topologySpreadConstraints ?? []),
    ...(wished.topologySpreadConstraints ?? []),
  ];
  const affinity = { ...where.affinity, ...joined(required.affinity, wished.affinity) };
  return {
    terminationGracePeriodSeconds: 0,
    ...room,
    tolerations: borne,
    ...(where.nodeSelector && { nodeSelector: where.nodeSelector }),
    ...(Object.keys(affinity).length > 0 && { affinity }),
    ...(spread.length > 0 && { topologySpreadConstraints: spread }),
  };
}

type Affinity = NonNullable<PodSpec['affinity']>;

function joined(a: Affinity = {}, b: Affinity = {}): Affinity {
  const kinds = ['podAffinity', 'podAntiAffinity'] as const;
  const both = kinds.filter((kind) => a[kind] ?? b[kind]);
  return Object.fromEntries(both.map((kind) => [kind, { ...a[kind], ...b[kind] }]));
}

/** @param port  of the first container, on the host */
export function withPort(
  spec: Spec,
  port: { hostPort: number; hostIP: string | undefined } | undefined,
): Spec {
  const [first, ...others] = spec.containers;
  if (!port || !first) return spec;
  const { hostIP, hostPort: number } = port;
  const ports = [
    { containerPort: number, hostPort: number, ...(hostIP === undefined ? {} : { hostIP }) },
  ];
  return { ...spec, containers: [{ ...first, ports }, ...others] };
}
