/** How each list of a problem travels: what the provisioner writes of an item, and what the thread makes of that. */
import type {
  BoundPod,
  ClosedNode,
  NodeInSight,
  PodVolumes,
  PoolInSight,
  Problem,
} from '#scheduling/solver.ts';
import type { InstanceType } from '#schemas/instances/instance-type.ts';
import type { NodePool } from '#schemas/karpenter/types.ts';
import type { DaemonSet, Pod, PodSpec } from '#schemas/kubernetes/core.ts';
import type { KubeObject, LabelSelector } from '#schemas/kubernetes/meta.ts';

import type { Part, Parts } from './parts.ts';
import { boundSpecText, daemonSetText, podOf, specText } from './travelling.ts';

/** What the thread is told of one item, beside its key. Numbers at the end are parts. */
export type Row = readonly (string | number)[];

/** A row, with the parts that it names. */
export interface Written {
  readonly row: Row;
  readonly parts: readonly Part[];
}

/** The parts that the thread has. */
export interface KnownParts {
  part<T>(id: string | number | undefined): T;
  /** The very same array each time. */
  list<T>(id: string | number | undefined): readonly T[];
}

export interface Travel<T extends object> {
  /** Items that say the same are the very same object: their long rows need not be remembered to be compared. */
  readonly isItself?: true;
  /** Keys, unique in the list, and items; undefined: the problem does not tell. */
  of(problem: Problem): Iterable<readonly [string, T]> | undefined;
  write(item: T, parts: Parts): Written;
  read(key: string, row: Row, known: KnownParts): T;
}

type Labels = Record<string, string>;

const noLabels: Labels = {};
const noSpec: PodSpec = { containers: [] };

const pods: Travel<Pod> = {
  of: (problem) => keyed(problem.pods, keyOf),
  ...asUnplaced(),
};

const leaving: Travel<Pod> = {
  of: (problem) => problem.leaving && keyed(problem.leaving, keyOf),
  ...asUnplaced(),
};
const bound: Travel<BoundPod> = {
  of: (problem) => problem.bound && keyed(problem.bound, ({ pod }) => keyOf(pod)),
  write: ({ pod: { metadata, spec }, on }, parts) =>
    written(
      [on, metadata?.deletionTimestamp ?? ''],
      [
        parts.of(spec ?? noSpec, boundSpecText),
        parts.of(metadata?.labels ?? noLabels, JSON.stringify),
      ],
    ),
  read: (key, [on, ends, spec, labels], known) => ({
    pod: podOf(key, {
      spec: known.part(spec),
      labels: known.part(labels),
      ...(ends !== '' && { deletionTimestamp: String(ends) }),
    }),
    on: String(on),
  }),
};

const nodes: Travel<NodeInSight> = {
  ...asText(({ nodes: list }) => keyed(list, ({ kind, name }) => `${kind} ${name}`)),
  isItself: true,
};

const closed: Travel<ClosedNode> = asText(
  ({ closed: list }) => list && keyed(list, ({ name }) => name),
);

/** Sizes and the pool itself seldom change, what its limits leave often does. */
const pools: Travel<PoolInSight> = {
  of: (problem) => keyed(problem.pools, ({ pool }) => pool.metadata?.name ?? ''),
  write: ({ pool, instanceTypes, limits, ...rest }, parts) =>
    written(
      [JSON.stringify({ ...rest, ...(limits && { limits: limits.map(limitOf) }) })],
      [parts.of(pool, poolText), parts.ofList(instanceTypes, JSON.stringify)],
    ),
  read: (_, [rest, pool, sizes], known) => ({
    ...(JSON.parse(String(rest)) as Pick<PoolInSight, 'remaining' | 'limits' | 'labels'>),
    pool: known.part<NodePool>(pool),
    instanceTypes: known.list<InstanceType>(sizes),
  }),
};

const daemonSets: Travel<DaemonSet> = {
  of: (problem) => keyed(problem.daemonSets, keyOf),
  write: (set, parts) => written([], [parts.of(set, daemonSetText)]),
  read: (_, [set], known) => known.part(set),
};

const namespaces: Travel<Readonly<Labels>> = asPart(({ namespaces: map }) => map);
const volumes: Travel<PodVolumes> = asPart(({ volumes: map }) => map);
const selectors: Travel<readonly LabelSelector[]> = asPart(
  ({ defaultSpread }) => defaultSpread?.selectors,
);

export const lists = {
  pods,
  leaving,
  bound,
  nodes,
  closed,
  pools,
  daemonSets,
  namespaces,
  volumes,
  selectors,
};

export type ListName = keyof typeof lists;
export const listNames = Object.keys(lists) as readonly ListName[];

/** Pods that a place is sought for. */
function asUnplaced(): Omit<Travel<Pod>, 'of'> {
  return {
    write: ({ metadata, spec }, parts) =>
      written(
        [metadata?.creationTimestamp ?? ''],
        [
          parts.of(spec ?? noSpec, specText),
          parts.of(metadata?.labels ?? noLabels, JSON.stringify),
        ],
      ),
    read: (key, [created, spec, labels], known) =>
      podOf(key, {
        spec: known.part(spec),
        labels: known.part(labels),
        ...(created !== '' && { creationTimestamp: String(created) }),
      }),
  };
}

/** What differs for nearly every item travels as it is. */
function asText<T extends object>(of: Travel<T>['of']): Travel<T> {
  return {
    of,
    write: (item) => written([JSON.stringify(item)], []),
    read: (_, [text]) => JSON.parse(String(text)) as T,
  };
}

/** What many items say alike. */
function asPart<T extends object>(of: Travel<T>['of']): Travel<T> {
  return {
    of,
    write: (item, parts) => written([], [parts.of(item, JSON.stringify)]),
    read: (_, [item], known) => known.part(item),
  };
}

function written(own: Row, parts: readonly Part[]): Written {
  return { row: [...own, ...parts.map(({ id }) => id)], parts };
}

/** As plans name Pods. */
function keyOf({ metadata }: KubeObject): string {
  return `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;
}

function* keyed<T>(items: readonly T[], of: (item: T) => string): Iterable<readonly [string, T]> {
  for (const item of items) yield [of(item), item];
}

/** Conditions and counts in a pool's status are nothing that a solver reads. */
function poolText({ metadata, spec }: NodePool): string {
  return JSON.stringify({ metadata: { name: metadata?.name }, spec });
}

/** A bound of the reservations says more, functions among it. */
function limitOf({ resource, amount, policy }: NonNullable<PoolInSight['limits']>[number]) {
  return { resource, amount, ...(policy !== undefined && { policy }) };
}
