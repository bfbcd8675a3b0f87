import type { InstanceType } from '#schemas/instances/instance-type.ts';
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { Taint } from '#schemas/kubernetes/core.ts';
import type { ResourceList } from '#schemas/kubernetes/meta.ts';
import { labels, taints } from '#schemas/names.ts';
import { Quantity } from '#schemas/quantity/quantity.ts';
import { cappedCapacity, type MachineCap } from '#schemas/quotapolicy/ceilings.ts';

import type { Offer } from '../catalog.ts';
import { WorkedOut } from '../worked-out.ts';

/** Taints that Kubernetes itself puts on a Node that starts. Source: Karpenter v1.15, pkg/scheduling/taints.go. */
const starting: readonly Taint[] = [
  { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/unreachable', effect: 'NoSchedule' },
  { key: 'node.cloudprovider.kubernetes.io/uninitialized', effect: 'NoSchedule' },
];

/** Whether a taint only says that the machine is not ready yet: known ones and the claim's startup taints. */
export function isEphemeral(taint: Taint, claim: NodeClaim): boolean {
  return (
    taint.key === taints.unregistered.key ||
    taint.key.startsWith('readiness.k8s.io/') ||
    [...starting, ...(claim.spec.startupTaints ?? [])].some(
      ({ key, effect }) => key === taint.key && effect === taint.effect,
    )
  );
}

/**
 * What a claim's machine has at least, before it is launched: the least of each resource over the sizes that it may
 * still get; nothing but its own requests when none of them is on offer now.
 *
 * @param cap  the most that policies allow such a machine
 */
export function smallestOf(
  claim: NodeClaim,
  offer: Offer | undefined,
  cap: MachineCap = {},
): ResourceList {
  const names = sizeNames(claim);
  const types = offer?.instanceTypes ?? [];
  const least = smallest.of(types, JSON.stringify([names, cap]), () => leastOf(types, names, cap));
  return least ?? claim.spec.resources?.requests ?? {};
}

/** Claims of one plan have mostly the same sizes to choose from, sixty of a thousand. */
const smallest = new WorkedOut<ResourceList | null>();

/** @returns null where none of them is on offer */
function leastOf(
  types: readonly InstanceType[],
  names: readonly string[],
  cap: MachineCap,
): ResourceList | null {
  const named = new Set(names);
  const [first, ...rest] = types.flatMap(({ name, capacity }) => {
    const under = named.has(name) ? cappedCapacity(capacity, cap) : undefined;
    return under ? [under] : [];
  });
  return first ? rest.reduce(lesser, first) : null;
}

/** The size that was chosen, as the claim's label; before that, those that may be, the cheapest first. */
export function sizeNames({ metadata, spec }: NodeClaim): readonly string[] {
  const chosen = metadata?.labels?.[labels.instanceType];
  if (chosen !== undefined) return [chosen];
  return spec.requirements.flatMap(({ key, operator, values = [] }) =>
    key === labels.instanceType && operator === 'In' ? values : [],
  );
}

/** A Node that starts shows zero for what it has not counted yet. */
export function withoutZeros(list: ResourceList | undefined): ResourceList {
  return Object.fromEntries(
    Object.entries(list ?? {}).filter(([, text]) => !Quantity.parse(text).isZero()),
  );
}

function lesser(a: ResourceList, b: ResourceList): ResourceList {
  const names = Object.keys(a).filter((name) => Object.hasOwn(b, name));
  return Object.fromEntries(
    names.map((name) => {
      const [x, y] = [Quantity.parse(a[name] ?? '0'), Quantity.parse(b[name] ?? '0')];
      return [name, (x.compareTo(y) <= 0 ? x : y).toString()];
    }),
  );
}
