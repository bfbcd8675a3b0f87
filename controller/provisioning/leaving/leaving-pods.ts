import { isTrue } from '#kube/conditions.ts';
import { tolerates } from '#scheduling/taints.ts';
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { Node, Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { taints } from '#schemas/names.ts';
import type { Clock } from '#schemas/time/clock.ts';

import { by } from '../../caches.ts';
import type { Context } from '../../context.ts';
import { asksToStay } from '../../do-not-disrupt.ts';
import { isOurNode } from '../../ours.ts';
import { isOwnedBy, isTerminal } from '../provisionable.ts';
import type { Slices } from '../slices.ts';
import { Budgets } from './budgets.ts';

/** Where an API server says that a Pod only mirrors a file on a node. */
const mirror = 'kubernetes.io/config.mirror';

export interface Leaving {
  /** Those that will have to move. */
  readonly pods: readonly Live<Pod>[];
  /** Whether there are any, or some that may be once what holds them lets go, of which nobody is told. */
  readonly isToBeSeenAgain: boolean;
}

/**
 * Pods on Nodes of ours that are being deleted, whoever deletes them: each will be made again elsewhere, so a machine is
 * made for it while it still runs. Not for one that nobody will get off its Node for now.
 *
 * Source: Karpenter v1.15, pkg/controllers/provisioning/provisioner.go, pkg/utils/pdb and pkg/utils/pod.
 */
export class LeavingPods {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  /**
   * @param claims  all of ours
   * @param placed  Pods that are on a Node and not over, by its name
   */
  async find(
    claims: readonly Live<NodeClaim>[],
    placed: ReadonlyMap<string, readonly Live<Pod>[]>,
    slices: Slices,
  ): Promise<Leaving> {
    const { caches, clock } = this.#context;
    const names = new Set(claims.filter(isGoing).flatMap((claim) => this.#nodesOf(claim)));
    await slices.each(caches.nodes.list(), (node) => {
      if (isOurNode(node) && node.metadata.deletionTimestamp !== undefined)
        names.add(node.metadata.name);
    });
    const guests = [...names].flatMap((name) => placed.get(name) ?? []).filter(isGuest);
    const budgets = new Budgets(caches);
    const pods: Live<Pod>[] = [];
    await slices.each(guests, (pod) => {
      const isHeld = isEvictable(pod, clock) && budgets.hold(pod);
      if (isFree(pod, clock) && !isHeld) pods.push(pod);
    });
    return { pods, isToBeSeenAgain: guests.length > 0 };
  }

  /** Whether a Pod that had to move when a plan was begun still has to: it is that Pod, and it is there. */
  isStill(pod: Live<Pod>): boolean {
    return isGuest(pod) && isFree(pod, this.#context.clock);
  }

  #nodesOf({ status }: NodeClaim): string[] {
    const { nodes } = this.#context.caches;
    const { nodeName = '', providerID = '' } = status ?? {};
    if (nodes.get(nodeName)) return [nodeName];
    return providerID === '' ? [] : nodes.by(by.providerID, providerID).map(nameOf);
  }
}

/** Whether the claim or its machine is on its way out: nobody new comes there. */
export function isGoing({ metadata, status }: Live<NodeClaim>): boolean {
  return (
    metadata.deletionTimestamp !== undefined || isTrue(status?.conditions, 'InstanceTerminating')
  );
}

/** Whether an eviction will be asked for, so that budgets have a say. Others end with their machine, or end already. */
function isEvictable(pod: Live<Pod>, clock: Clock): boolean {
  return !isEnding(pod) && !toleratesDisruption(pod) && !asksToStay(pod, clock);
}

/**
 * It will be made again, and not by each Node. Of those that end already these are the Pods of StatefulSets alone, which
 * are made again under the same name, when they are gone; others have been made again by then.
 */
function isGuest(pod: Live<Pod>): boolean {
  const isMirror = pod.metadata.annotations?.[mirror] !== undefined;
  if (isTerminal(pod) || isMirror || isOwnedBy(pod, 'DaemonSet', 'Node')) return false;
  return !isEnding(pod) || isOfStatefulSet(pod);
}

function isFree(pod: Live<Pod>, clock: Clock): boolean {
  return isEnding(pod) || !asksToStay(pod, clock);
}

function isEnding({ metadata }: Live<Pod>): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** Kubernetes' own: others of that kind promise nothing. */
function isOfStatefulSet({ metadata }: Live<Pod>): boolean {
  return (metadata.ownerReferences ?? []).some(
    ({ apiVersion, kind }) => apiVersion === 'apps/v1' && kind === 'StatefulSet',
  );
}

function toleratesDisruption({ spec }: Pod): boolean {
  return (spec?.tolerations ?? []).some((toleration) => tolerates(toleration, taints.disrupted));
}

const nameOf = ({ metadata }: Live<Node>): string => metadata.name;
