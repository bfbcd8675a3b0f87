import type { DaemonSet, PodSpec, Taint } from '#schemas/kubernetes/core.ts';
import type { ResourceList } from '#schemas/kubernetes/meta.ts';
import { labels } from '#schemas/names.ts';
import { InvalidQuantity } from '#schemas/quantity/quantity.ts';
import { fits } from '#schemas/quantity/resources.ts';

import { alternativesOf } from './affinity.ts';
import { plus, toAmounts, type Amounts } from './amounts.ts';
import { podRequests } from './pod-requests.ts';
import { conflictOf, type Requirements } from './requirements.ts';
import { untolerated } from './taints.ts';

/** What one Pod of a DaemonSet is and asks for. */
export interface DaemonPod {
  readonly spec: PodSpec;
  readonly requests: ResourceList;
}

/**
 * Labels that each machine's Node has in the end. DaemonSets that select them come late, and come all the same.
 *
 * Source: Karpenter v1.15, pkg/controllers/provisioning/scheduling/scheduler.go.
 */
export const labelsInTheEnd = {
  [labels.registered]: 'true',
  [labels.initialized]: 'true',
} as const;

/**
 * What the Pods of DaemonSets will take of a node: those that tolerate its taints and accept its labels, as
 * kube-scheduler will judge. A Kraftlet node does not run host software, yet a DaemonSet that tolerates everything
 * is bound to it and takes its room.
 *
 * @param node  what is known of the node's labels; a well-known one that is not known is taken to suit, so that too
 *              much room is kept rather than too little
 * @param capacity  of the empty node, see {@link landing}
 */
export function daemonOverhead(
  daemonSets: readonly DaemonSet[],
  node: Requirements,
  taints: readonly Taint[],
  capacity?: Readonly<ResourceList>,
): Amounts {
  return landing(daemonSets, node, taints, capacity)
    .map(({ requests }) => toAmounts(requests))
    .reduce(plus, new Map<string, bigint>());
}

/**
 * The Pods of DaemonSets that will be on a node.
 *
 * @param capacity  a Pod that asks for more than the empty node has, or for what it does not offer at all, is never
 *                  placed there; undefined leaves that open. So is one whose amounts cannot be read
 * @throws InvalidQuantity when the capacity is none
 */
export function landing(
  daemonSets: readonly DaemonSet[],
  node: Requirements,
  taints: readonly Taint[],
  capacity: Readonly<ResourceList> | undefined,
): DaemonPod[] {
  return daemonSets
    .filter((set) => accepts(set, node, taints))
    .map(({ spec }) => spec?.template.spec ?? { containers: [] })
    .flatMap((spec) => {
      const requests = requestsOf(spec);
      return requests instanceof InvalidQuantity ? [] : [{ spec, requests }];
    })
    .filter(({ requests }) => capacity === undefined || fits(requests, capacity));
}

function accepts(
  { metadata, spec }: DaemonSet,
  node: Requirements,
  taints: readonly Taint[],
): boolean {
  if (!spec || metadata?.deletionTimestamp !== undefined) return false;
  const pod = spec.template.spec;
  return (
    !untolerated(taints, pod.tolerations) &&
    alternativesOf(pod).some((asked) => conflictOf(node, asked) === undefined)
  );
}

/** By template: objects of the caches never change. */
const known = new WeakMap<PodSpec, ResourceList | InvalidQuantity>();

function requestsOf(spec: PodSpec): ResourceList | InvalidQuantity {
  const requests = known.get(spec) ?? read(spec);
  known.set(spec, requests);
  return requests;
}

/** One DaemonSet that cannot be read keeps nobody from a machine. */
function read(spec: PodSpec): ResourceList | InvalidQuantity {
  try {
    const requests = podRequests(spec);
    toAmounts(requests); // those of a single container are only copied before
    return requests;
  } catch (error) {
    if (error instanceof InvalidQuantity) return error;
    throw error;
  }
}

/** Why what its Pods ask for cannot be read; such a DaemonSet counts nothing. */
export function daemonTrouble({ spec }: DaemonSet): InvalidQuantity | undefined {
  const requests = spec && requestsOf(spec.template.spec);
  return requests instanceof InvalidQuantity ? requests : undefined;
}
