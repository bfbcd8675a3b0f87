import type { UnikraftQuotaPolicy } from './types.ts';

/** Where a machine belongs, as far as policies ask. */
export interface Membership {
  /** Undefined for a claim without a NodePool. */
  readonly nodePool:
    | {
        readonly name: string;
        /** Undefined when the pool is gone, so that nobody knows them any more. */
        readonly labels: Readonly<Record<string, string>> | undefined;
      }
    | undefined;
  readonly nodeClass: string;
}

/**
 * Whether a policy means the machines of a pool and node class. A pool whose labels are not known any more counts as
 * meant: its machines may still run, and a sum that leaves them out would let others take their room.
 */
export function selects(
  { spec: { selector } }: UnikraftQuotaPolicy,
  { nodePool, nodeClass }: Membership,
): boolean {
  const { nodePools, nodeClasses } = selector ?? {};
  if (nodeClasses && !nodeClasses.includes(nodeClass)) return false;
  if (!nodePools) return true;
  if (!nodePool) return false;
  const { names, matchLabels } = nodePools;
  return (!names || names.includes(nodePool.name)) && hasLabels(nodePool.labels, matchLabels);
}

function hasLabels(
  own: Readonly<Record<string, string>> | undefined,
  wanted: Readonly<Record<string, string>> | undefined,
): boolean {
  if (!own || !wanted) return true;
  return Object.entries(wanted).every(
    ([key, value]) => Object.hasOwn(own, key) && own[key] === value,
  );
}
