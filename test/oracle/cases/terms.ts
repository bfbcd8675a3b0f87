/** The few names that cases are made of: few, so that rules find somebody to be about. */
import fc from 'fast-check';

import type { LabelSelector } from '#schemas/kubernetes/meta.ts';
import { labels } from '#schemas/names.ts';

export type Labels = Record<string, string>;

/** Namespaces of every case, with their labels. */
export const spaces: ReadonlyMap<string, Labels> = new Map([
  ['oracle-red', { team: 'red' }],
  ['oracle-blue', { team: 'blue' }],
]);

export const zones = ['1a', '1b', '1c'] as const;
/** A label of our own that Pods spread over, beside zones and hosts. */
export const rack = 'example.com/rack';
export const racks = ['r1', 'r2'] as const;
export const tier = 'example.com/tier';
/** A resource that only some machines have. */
export const device = 'example.com/device';
export const dedicated = {
  key: 'example.com/dedicated',
  value: 'batch',
  effect: 'NoSchedule',
} as const;
/** What kube-controller-manager puts on a Node that is cordoned. */
export const cordoned = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' } as const;
/** Adds a quarter of a CPU to each Pod that names it. */
export const heavyRuntime = 'oracle-heavy';

const versions = ['v1', 'v2'] as const;

/** Zones twice as often as each other key. */
export const topologyKey: fc.Arbitrary<string> = fc.constantFrom(
  labels.zone,
  labels.zone,
  labels.hostname,
  rack,
);

export const podLabels: fc.Arbitrary<Labels> = fc.record({
  app: fc.constantFrom('a', 'b', 'c'),
  version: fc.constantFrom(...versions),
});

export const space: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constant('oracle-red') },
  { weight: 1, arbitrary: fc.constant('oracle-blue') },
);

/** Stands for the Pod's own `app` in selectors, since rules are most often about Pods of one's own kind. */
export const self = 'self';

/** Pods that a rule is about. */
export const selector: fc.Arbitrary<LabelSelector> = fc.oneof(
  { weight: 8, arbitrary: fc.constant({ matchLabels: { app: self } }) },
  { weight: 6, arbitrary: fc.constantFrom('a', 'b', 'c').map((app) => ({ matchLabels: { app } })) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        fc.constantFrom('In' as const, 'NotIn' as const),
        fc.subarray(['a', 'b', 'c'], { minLength: 1, maxLength: 2 }),
      )
      .map(([operator, values]) => ({ matchExpressions: [{ key: 'app', operator, values }] })),
  },
);

/** Something now and then. */
export function seldom<T>(arbitrary: fc.Arbitrary<T>, weight = 6): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
}

/** What a rule says once it is known whose it is. */
export function ofApp<T>(spec: T, app: string): T {
  return JSON.parse(JSON.stringify(spec), (_, value: unknown) =>
    value === self ? app : value,
  ) as T;
}
