/**
 * Which taints a machine's Node is to have. The rules refuse what cannot be had (KPU107), for pools always and for
 * claims made by hand where a webhook or a policy answers; what came in all the same must not keep a Node closed for
 * ever: the API server refuses a Node with two taints of one key and effect, and Karpenter's own taints close it.
 */
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { Taint } from '#schemas/kubernetes/core.ts';
import { taints } from '#schemas/names.ts';

const karpenters = 'karpenter.sh/';

/** The vendor's and the claim's own; where they contradict each other, the vendor's is there first. */
export function lastingTaints({ spec }: NodeClaim): Taint[] {
  return unlikeEachOther([taints.kraftlet, ...(spec.taints ?? []).filter(isFree)]);
}

/** Those that somebody is to take off before the Node counts as capacity; one that lasts is none of them. */
export function startupTaints(claim: NodeClaim): Taint[] {
  const lasting = lastingTaints(claim);
  const free = (claim.spec.startupTaints ?? []).filter(isFree);
  return unlikeEachOther(free).filter((taint) => !has(lasting, taint));
}

/** Whether one of them has this key and effect, by which Kubernetes tells taints apart. */
export function has(list: readonly Taint[], { key, effect }: Taint): boolean {
  return list.some((taint) => taint.key === key && taint.effect === effect);
}

function isFree({ key }: Taint): boolean {
  return !key.startsWith(karpenters);
}

/** The first of each key and effect. */
function unlikeEachOther(list: readonly Taint[]): Taint[] {
  return list.filter((taint, index) => !has(list.slice(0, index), taint));
}
