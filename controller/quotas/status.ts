/** What a policy comes to, from what is known now. Pure but for what it is given to ask. */
import type { ConditionChange } from '#kube/conditions.ts';
import type { NodePool } from '#schemas/karpenter/types.ts';
import type { Live, ResourceList } from '#schemas/kubernetes/meta.ts';
import type { UnikraftNodeClass } from '#schemas/nodeclass/types.ts';
import { InvalidQuantity, Quantity } from '#schemas/quantity/quantity.ts';
import {
  isEnforced,
  limitsIn,
  type Limit,
  type MachineCap,
} from '#schemas/quotapolicy/ceilings.ts';
import { selects } from '#schemas/quotapolicy/selector.ts';
import type { UnikraftQuotaPolicy, UnikraftQuotaPolicyStatus } from '#schemas/quotapolicy/types.ts';

import type { Ceilings } from '../reservations/ceilings.ts';
import { excessOf, excessText, statedCapacity } from './comparison.ts';

export interface Known {
  readonly ceilings: Ceilings;
  /** All pools of ours. */
  readonly pools: readonly Live<NodePool>[];
  readonly nodeClass: (name: string) => UnikraftNodeClass | undefined;
  readonly used: (pool: string) => ResourceList;
  readonly usedUnder: (policy: UnikraftQuotaPolicy) => ResourceList;
}

export interface Picture {
  readonly status: Omit<UnikraftQuotaPolicyStatus, 'conditions'>;
  readonly conditions: readonly ConditionChange[];
}

/** As many as the schema lets a list have. */
const most = 100;
/** As many as fit into a message that a person reads. */
const few = 5;

export function pictureOf(policy: Live<UnikraftQuotaPolicy>, known: Known): Picture {
  const pools = selectedPools(policy, known);
  const { perNodePool, total } = policy.spec.ceilings;
  const perPool = limitsIn(perNodePool, policy);
  const all = limitsIn(total, policy);
  const use = known.usedUnder(policy);
  const reached = [
    ...all.flatMap((limit) => reachedText(limit, use, 'all together')),
    ...pools.flatMap(({ metadata: { name } }) =>
      perPool.flatMap((limit) => reachedText(limit, known.used(name), `NodePool ${name}`)),
    ),
  ];
  const above = pools.flatMap((pool) =>
    excessOf(pool.spec.limits, perPool).map(
      (excess) => `NodePool ${pool.metadata.name} ${excessText(excess)}`,
    ),
  );
  return {
    status: {
      selectedNodePools: pools.length,
      nodePools: pools.slice(0, most).map((pool) => quotaOf(pool, known)),
      ...(all.length > 0 && { total: { effective: asList(all), use: only(use, all) } }),
    },
    conditions: [ready(policy), capped(policy, above), limitReached(policy, reached)],
  };
}

function selectedPools(policy: UnikraftQuotaPolicy, { pools, ceilings }: Known): Live<NodePool>[] {
  return pools
    .filter((pool) => selects(policy, membershipOf(pool, ceilings)))
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}

function membershipOf(pool: Live<NodePool>, ceilings: Ceilings) {
  return ceilings.membership(pool.metadata.name, pool.spec.template.spec.nodeClassRef.name, pool);
}

type QuotaOfNodePool = NonNullable<UnikraftQuotaPolicyStatus['nodePools']>[number];

function quotaOf(pool: Live<NodePool>, known: Known): QuotaOfNodePool {
  const { name } = pool.metadata;
  const limits = limitsHolding(pool, known.ceilings);
  const nodeClass = known.nodeClass(pool.spec.template.spec.nodeClassRef.name);
  const cap = known.ceilings.capOf(membershipOf(pool, known.ceilings));
  return {
    name,
    requested: only(pool.spec.limits ?? {}, limits),
    effective: asList(limits),
    use: only(known.used(name), limits),
    ...(Object.keys(cap).length > 0 && {
      machineRequested: nodeClass ? statedCapacity(nodeClass) : {},
      machineEffective: capAsList(cap),
    }),
  };
}

/** Those that policies can speak of. A pool whose own limits cannot be read says so itself. */
function limitsHolding(pool: Live<NodePool>, ceilings: Ceilings): Limit[] {
  try {
    return ceilings
      .limitsOf(pool)
      .filter(({ resource }) => ['cpu', 'memory', 'nodes'].includes(resource));
  } catch (error) {
    if (error instanceof InvalidQuantity) return [];
    throw error;
  }
}

function ready(policy: UnikraftQuotaPolicy): ConditionChange {
  const { enforcement } = policy.spec;
  return isEnforced(policy)
    ? { type: 'Ready', status: 'True', reason: 'Enforced', message: '' }
    : {
        type: 'Ready',
        status: 'True',
        reason: 'NotEnforced',
        message: `${enforcement} only tells; nothing is held back`,
      };
}

/** Asking for more changes nothing where a policy only tells. */
function capped(policy: UnikraftQuotaPolicy, above: readonly string[]): ConditionChange {
  const type = 'Capped';
  if (above.length === 0) return { type, status: 'False', reason: 'WithinCeilings', message: '' };
  return isEnforced(policy)
    ? { type, status: 'True', reason: 'AboveCeiling', message: `${first(above)} (KPU344)` }
    : { type, status: 'False', reason: 'NotEnforced', message: `${first(above)} (KPU172)` };
}

function limitReached(policy: UnikraftQuotaPolicy, reached: readonly string[]): ConditionChange {
  const type = 'LimitReached';
  if (reached.length === 0) return { type, status: 'False', reason: 'WithinCeilings', message: '' };
  return isEnforced(policy)
    ? { type, status: 'True', reason: 'LimitReached', message: `${first(reached)} (KPU341)` }
    : { type, status: 'True', reason: 'NotEnforced', message: `${first(reached)} (KPU172)` };
}

/** `limit nodes 10 is reached by NodePool web, 10 in use`. */
function reachedText({ resource, amount }: Limit, use: ResourceList, who: string): string[] {
  const used = use[resource] ?? '0';
  if (Quantity.parse(used).compareTo(Quantity.parse(amount)) < 0) return [];
  return [`limit ${resource} ${amount} is reached by ${who}, ${used} in use`];
}

function first(texts: readonly string[]): string {
  const more = texts.length - few;
  const text = [...texts.slice(0, few), ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
  return text.replace(/^./, (letter) => letter.toUpperCase());
}

function asList(limits: readonly Limit[]): ResourceList {
  return Object.fromEntries(limits.map(({ resource, amount }) => [resource, amount]));
}

/** The amounts that there are limits for; what is not used is zero, what is not asked for is absent. */
function only(amounts: Readonly<ResourceList>, limits: readonly Limit[]): ResourceList {
  return Object.fromEntries(
    limits.flatMap(({ resource }) => {
      const amount = amounts[resource];
      return amount === undefined ? [] : [[resource, String(amount)]];
    }),
  );
}

function capAsList({ vcpus, memoryMiB, volumeStorageMiB, instances }: MachineCap): ResourceList {
  return {
    ...(vcpus !== undefined && { vcpus: String(vcpus) }),
    ...(memoryMiB !== undefined && { memory: `${memoryMiB}Mi` }),
    ...(volumeStorageMiB !== undefined && { volumeStorage: `${volumeStorageMiB}Mi` }),
    ...(instances !== undefined && { instances: String(instances) }),
  };
}
