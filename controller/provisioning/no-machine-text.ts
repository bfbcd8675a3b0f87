/** Why no pool makes a machine for a Pod, so told that what a person has to change comes first. */
import type { Refusal } from '#scheduling/solver.ts';

import type { SkippedPool } from './pools-in-sight.ts';

/** An event may say 1024 characters. */
export const longest = 1000;

/** The later a check that stops a pool comes, the nearer the pool was to make a machine. Nearest first. */
const nearest = [
  'Backoff',
  'Limit',
  'Topology',
  'NoOfferings',
  'Resources',
  'NotReady',
  'InstanceTypes',
  'Unsupported',
  'Restricted',
  'Requirements',
  'Taints',
] as const satisfies readonly (Refusal['reason'] | 'NotReady')[];

type Reason = (typeof nearest)[number];

/** What somebody can do about it, of the pool that was nearest; nothing where a wait has an end of its own. */
const wayOut: Readonly<Record<Reason, string>> = {
  Backoff: 'Take away what keeps such Pods off, or let them tolerate it',
  Limit: 'Raise that limit, or remove what uses it up',
  Topology: 'Let the Pod ask less of zones and other Pods, or allow the pool more zones',
  NoOfferings: 'It is tried again by itself; more sizes or zones in the pool help',
  Resources: 'Let the Pod ask for less, or allow the pool larger sizes',
  NotReady: 'Put right what the pool or its node class names',
  InstanceTypes: "Change what the Pod selects, or the pool's requirements",
  Unsupported: 'Take that out of the Pod',
  Restricted: 'Take that out of the Pod',
  Requirements: "Change what the Pod selects, or the pool's requirements",
  Taints: 'Give the Pod a toleration, or make a pool without that taint',
};
const noPool =
  'There is no NodePool for Unikraft machines. Apply one that names a UnikraftNodeClass in its nodeClassRef';

interface Told {
  readonly pools: readonly string[];
  readonly reason: Reason;
  /** It ends by itself, and has a code that says so. */
  readonly isShort: boolean;
  readonly message: string;
  /** The pool is for other Pods than this one. */
  readonly isElsewhere: boolean;
}

/**
 * `No Unikraft machine for this Pod: NodePool web: needs 64 vCPU, …; 2 other pools do not match. Let the Pod ask for
 * less, or allow the pool larger sizes`
 *
 * @param refusals  of the pools that were asked
 * @param skipped  pools that take no part, and why
 */
export function noMachineText(
  refusals: readonly Refusal[],
  skipped: readonly SkippedPool[],
): string {
  const all = toldInOrder(refusals, skipped);
  if (all.length === 0) return noPool;
  const near = all.filter(({ isElsewhere }) => !isElsewhere);
  const full = near.length > 0 ? near : all.slice(0, 1);
  const others = all
    .filter((one) => !full.includes(one))
    .reduce((count, { pools }) => count + pools.length, 0);
  const parts = [...full.map(textOf), ...(others > 0 ? [othersText(others)] : [])];
  const text = `No Unikraft machine for this Pod: ${parts.join('; ')}`;
  const end = full[0] && !full[0].isShort ? `. ${wayOut[full[0].reason]}` : '';
  const most = longest - end.length;
  return (text.length > most ? `${text.slice(0, most)}…` : text) + end;
}

/** Pools of which the same is to be said are told together. */
function toldInOrder(refusals: readonly Refusal[], skipped: readonly SkippedPool[]): Told[] {
  const all = [...refusals, ...skipped.map((one) => ({ ...one, reason: 'NotReady' as const }))];
  const ordered = all.toSorted((a, b) => nearest.indexOf(a.reason) - nearest.indexOf(b.reason));
  return [...Map.groupBy(ordered, ({ message }) => message)].map(([message, same]) => ({
    pools: same.map(({ pool }) => pool),
    reason: same[0]!.reason,
    isShort: same.some((one) => 'code' in one && one.code !== undefined),
    message,
    isElsewhere: same.every(({ reason }) => reason === 'Requirements' || reason === 'Taints'),
  }));
}

function textOf({ pools, message }: Told): string {
  return `NodePool${pools.length > 1 ? 's' : ''} ${pools.join(', ')}: ${message}`;
}

function othersText(count: number): string {
  return count === 1 ? '1 other pool does not match' : `${count} other pools do not match`;
}
