/** Nodes as they are told to the API server: ready, and closed until they are opened. */
import type { NodeInSight, PlannedClaim, PoolInSight } from '#scheduling/solver.ts';
import { ValueSet } from '#scheduling/value-set.ts';
import type { InstanceType } from '#schemas/instances/instance-type.ts';
import type { Requirement } from '#schemas/karpenter/types.ts';
import type { Node, Taint } from '#schemas/kubernetes/core.ts';
import type { ResourceList } from '#schemas/kubernetes/meta.ts';
import { labels, onDemand, taints } from '#schemas/names.ts';

/** What a Node will be once it is open. */
export interface Promised {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly allocatable: ResourceList;
}

/** A Node without a kubelet: what it says of itself holds for as long as a case lasts. */
export function nodeObject(node: Promised, { isClosed }: { readonly isClosed: boolean }): Node {
  const { name, allocatable } = node;
  return {
    metadata: { name, labels: { ...node.labels, [labels.hostname]: name } },
    spec: { taints: [...node.taints, ...(isClosed ? [taints.unregistered] : [])] },
    status: {
      capacity: allocatable,
      allocatable,
      conditions: [{ type: 'Ready', status: 'True', reason: 'Promised' }],
    },
  };
}

/** What a claim that is on its way becomes. */
export function arrived({ name, labels: own, taints: all, allocatable }: NodeInSight): Promised {
  return { name, labels: own, taints: all, allocatable };
}

/** A machine as it would be had for a claim. */
export interface Bought {
  readonly type: InstanceType;
  readonly zone: string;
  readonly price: number;
}

/**
 * The cheapest machine that a claim allows. It may stand in any zone that is left open, so the last is taken, which the
 * solver has thought of least.
 */
export function bought({ instanceTypes, requirements }: PlannedClaim): Bought {
  const asked = requirements
    .filter(({ key }) => key === labels.zone)
    .map((one) => ValueSet.of(one));
  const all = instanceTypes.flatMap((type) =>
    type.offerings
      .filter(({ zone, available }) => available && asked.every((set) => set.has(zone)))
      .map(({ zone, price = 0 }) => ({ type, zone, price })),
  );
  const least = Math.min(...all.map(({ price }) => price));
  const machine = all.findLast(({ price }) => price === least);
  if (!machine) throw new Error('a claim was planned of which no machine is sold');
  return machine;
}

/** The Node of a planned claim, labelled as the claim, its pool and its machine say. */
export function promisedNode(
  name: string,
  claim: PlannedClaim,
  pools: readonly PoolInSight[],
): Promised {
  const { type, zone } = bought(claim);
  const found = pools.find(({ pool }) => pool.metadata?.name === claim.nodePool);
  if (!found) throw new Error(`a claim was planned for ${claim.nodePool}, which is no pool`);
  const { metadata, spec } = found.pool.spec.template;
  const custom = claim.requirements.flatMap(({ key, operator, values = [] }) =>
    operator === 'In' && values.length === 1 ? [[key, values[0] ?? ''] as const] : [],
  );
  return {
    name,
    labels: {
      ...metadata?.labels,
      ...found.labels,
      ...Object.fromEntries(custom),
      ...type.labels,
      [labels.nodePool]: claim.nodePool,
      [labels.capacityType]: onDemand,
      [labels.zone]: zone,
      [labels.registered]: 'true',
    },
    taints: [taints.kraftlet, ...(spec.taints ?? [])],
    allocatable: type.capacity,
  };
}

/** A claim for each kind of machine that a pool can make: each size in each zone, with each value of its own labels. */
export function kindsOf({ pool, instanceTypes }: PoolInSight): PlannedClaim[] {
  const own = pool.spec.template.spec.requirements.reduce<Requirement[][]>(
    (all, { key, operator, values = [] }) =>
      operator === 'In'
        ? all.flatMap((rest) => values.map((value) => [...rest, only(key, value)]))
        : all,
    [[]],
  );
  return instanceTypes.flatMap((type) =>
    type.offerings.flatMap(({ zone }) =>
      own.map((requirements) => ({
        nodePool: pool.metadata?.name ?? '',
        requirements: [...requirements, only(labels.zone, zone)],
        requests: {},
        instanceTypes: [type],
        pods: [],
      })),
    ),
  );
}

function only(key: string, value: string): Requirement {
  return { key, operator: 'In', values: [value] };
}
