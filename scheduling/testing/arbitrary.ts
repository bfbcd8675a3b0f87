/** Any small cluster with any Pods: what rules allow is rare enough that they have something to decide. */
import fc from 'fast-check';

import type { Pod, PodSpec } from '#schemas/kubernetes/core.ts';
import { labels } from '#schemas/names.ts';

import type { BoundPod, NodeInSight, Problem } from '../solver.ts';
import { node, pool, problem, size } from './build.ts';
import { apart, labelled, near, spread, type Labels } from './rules.ts';

const zones = ['1a', '1b', '1c'];
const apps = ['a', 'b', 'c'];
/** A label that some nodes do not have. */
const rack = 'rack';
const racks = ['r1', 'r2'];
const key = fc.constantFrom(labels.zone, labels.zone, labels.hostname, rack);
const app = fc.constantFrom(...apps).map((name): Labels => ({ app: name }));

const rule: fc.Arbitrary<Partial<PodSpec>> = fc.oneof(
  fc.constant({}),
  fc
    .record({
      key,
      app,
      maxSkew: fc.integer({ min: 1, max: 2 }),
      minDomains: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
      nodeAffinityPolicy: fc.constantFrom('Honor' as const, 'Ignore' as const),
      nodeTaintsPolicy: fc.constantFrom('Honor' as const, 'Ignore' as const),
    })
    .map(({ key: over, app: of, minDomains, ...parts }) =>
      spread(over, of, { ...parts, ...(minDomains === undefined ? {} : { minDomains }) }),
    ),
  fc
    .record({
      app,
      skews: fc.tuple(fc.integer({ min: 1, max: 2 }), fc.integer({ min: 1, max: 4 })),
    })
    .map(({ app: of, skews: [skew, other] }) => ({
      topologySpreadConstraints: [
        ...(spread(labels.zone, of, { maxSkew: skew }).topologySpreadConstraints ?? []),
        ...(spread(rack, of, { maxSkew: other }).topologySpreadConstraints ?? []),
      ],
    })),
  fc.tuple(key, app).map(([over, of]) => near(over, of)),
  fc.tuple(key, app).map(([over, of]) => apart(over, of)),
);

const selection: fc.Arbitrary<Partial<PodSpec>> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({}) },
  fc.constantFrom(...zones).map((zone) => ({ nodeSelector: { [labels.zone]: zone } })),
  fc.constant({ nodeSelector: { tier: 'gold' } }),
);

const port: fc.Arbitrary<Partial<PodSpec> | undefined> = fc.oneof(
  { weight: 6, arbitrary: fc.constant(undefined) },
  fc.constant<Partial<PodSpec>>({
    containers: [{ name: 'app', ports: [{ containerPort: 80, hostPort: 80 }] }],
  }),
);

const group = fc.record({
  app,
  rule,
  second: rule,
  selection,
  port,
  cpu: fc.constantFrom('250m', '500m', '1', '3'),
  count: fc.integer({ min: 1, max: 6 }),
});

const pods: fc.Arbitrary<Pod[]> = fc
  .array(group, { minLength: 1, maxLength: 5 })
  .map((groups) =>
    groups.flatMap(
      ({ app: own, rule: first, second, selection: select, port: host, cpu, count }, index) =>
        labelled(
          count,
          own,
          { ...first, ...second, ...select, ...host },
          { name: `g${index}-`, cpu },
        ),
    ),
  );

const site = fc.record({
  zone: fc.constantFrom(...zones),
  rack: fc.option(fc.constantFrom(...racks), { nil: undefined }),
  cpu: fc.integer({ min: 1, max: 6 }),
  gold: fc.boolean(),
  bound: fc.array(fc.record({ app, rule: fc.option(apartOnly(), { nil: undefined }) }), {
    maxLength: 2,
  }),
});

function apartOnly(): fc.Arbitrary<Partial<PodSpec>> {
  return fc.tuple(key, app).map(([over, of]) => apart(over, of));
}

export const anyProblem: fc.Arbitrary<Problem> = fc
  .record({
    pods,
    sites: fc.array(site, { maxLength: 4 }),
    limit: fc.option(fc.integer({ min: 1, max: 6 })),
    zones: fc.subarray(zones, { minLength: 1 }),
    hasGold: fc.boolean(),
    hasRacks: fc.boolean(),
  })
  .map(({ pods: wanted, sites, limit, zones: sold, hasGold, hasRacks }) => {
    const sizes = [
      size(2, { zones: sold }),
      size(4, { zones: sold }),
      size(8, { zones: sold.slice(0, 1) }),
    ];
    const gold = pool('gold', { sizes, labels: { tier: 'gold' }, weight: 10 });
    const plain = pool('plain', {
      sizes,
      requirements: hasRacks ? [{ key: rack, operator: 'In', values: racks }] : [],
      ...(limit === null ? {} : { limits: { nodes: `${limit}` } }),
    });
    return problem({
      pods: wanted,
      pools: hasGold ? [gold, plain] : [plain],
      nodes: sites.map(nodeOf),
      bound: sites.flatMap(({ bound }, index) =>
        bound.map((one, each) => boundTo(index, each, one)),
      ),
    });
  });

function nodeOf(
  {
    zone,
    rack: at,
    cpu,
    gold,
  }: { zone: string; rack: string | undefined; cpu: number; gold: boolean },
  index: number,
): NodeInSight {
  const own = {
    [labels.zone]: zone,
    ...(at === undefined ? {} : { [rack]: at }),
    ...(gold ? { tier: 'gold' } : {}),
  };
  return node(`n${index}`, { cpu: `${cpu}`, memory: '16Gi' }, { labels: own });
}

function boundTo(
  index: number,
  each: number,
  { app: own, rule: its }: { app: Labels; rule: Partial<PodSpec> | undefined },
): BoundPod {
  const [pod] = labelled(1, own, its, { name: `b${index}-${each}-` });
  return { pod: pod!, on: `n${index}` };
}
