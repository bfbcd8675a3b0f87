/**
 * Nodes that pending Pods may still go to: those that are there, and machines that are on their way, which count as
 * what they will be. So a machine is never launched for a Pod that one is coming for.
 *
 * Source: Karpenter v1.15, pkg/controllers/state/statenode.go; unlike there, no claim ever stops a pass.
 */
import { isTrue } from '#kube/conditions.ts';
import { minus, plus, toAmounts, toList, type Amounts } from '#scheduling/amounts.ts';
import { daemonOverhead } from '#scheduling/daemon-overhead.ts';
import { boundPodRequests } from '#scheduling/pod-requests.ts';
import {
  fromLabels,
  fromSelector,
  intersect,
  type Requirements,
} from '#scheduling/requirements.ts';
import type { NodeInSight } from '#scheduling/solver.ts';
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { Node, Pod, Taint } from '#schemas/kubernetes/core.ts';
import type { Live, ResourceList } from '#schemas/kubernetes/meta.ts';
import { taints } from '#schemas/names.ts';

import { by } from '../caches.ts';
import type { Offer } from '../catalog.ts';
import type { Context } from '../context.ts';
import { isOurNode } from '../ours.ts';
import { Ceilings } from '../quotas/ceilings.ts';
import { isEphemeral, smallestOf, withoutZeros } from './in-flight.ts';
import type { Nominations } from './nominations.ts';
import { nodeLabels } from './pools-in-sight.ts';
import { isOwnedBy, isTerminal } from './provisionable.ts';

type Offers = ReadonlyMap<string, Offer>;

/** A node before any Pod is on it. */
interface Bare {
  readonly node: Requirements;
  readonly taints: readonly Taint[];
  readonly allocatable: ResourceList;
}

export class NodesInSight {
  readonly #context: Context;
  readonly #nominations: Nominations;
  readonly #ceilings: Ceilings;
  /** Requests of Pods as they are in the cache, where an object never changes. */
  readonly #requests = new WeakMap<Pod, Amounts>();

  constructor(context: Context, nominations: Nominations) {
    this.#context = context;
    this.#nominations = nominations;
    this.#ceilings = new Ceilings(context.caches);
  }

  /** @param claims all claims of ours, those included that the cache does not show yet */
  list(claims: readonly Live<NodeClaim>[], offers: Offers): NodeInSight[] {
    const byNode = new Map(
      claims.flatMap((claim) => this.#nodesOf(claim).map((node) => [node.metadata.name, claim])),
    );
    const nodes = this.#context.caches.nodes
      .list()
      .flatMap((node) => this.#there(node, byNode.get(node.metadata.name)));
    const coming = claims.filter(
      (claim) => !isGoing(claim) && !isTrue(claim.status?.conditions, 'Registered'),
    );
    return [
      ...nodes,
      ...coming.map((claim) => this.#coming(claim, offers.get(claim.spec.nodeClassRef.name))),
    ];
  }

  #nodesOf({ status }: NodeClaim): Live<Node>[] {
    if (status?.nodeName === undefined && status?.providerID === undefined) return [];
    const { nodes } = this.#context.caches;
    const named = nodes.get(status.nodeName ?? '');
    return named ? [named] : nodes.by(by.providerID, status.providerID ?? '');
  }

  /** A Node that takes Pods, or will once what only holds its start is gone. */
  #there(node: Live<Node>, claim: Live<NodeClaim> | undefined): NodeInSight[] {
    if (isClosed(node, claim)) return [];
    const isStarting = claim !== undefined && !isTrue(claim.status?.conditions, 'Initialized');
    if (isStarting) return [this.#asNode(node, claim, claim)];
    return isReady(node) ? [this.#asNode(node, claim, undefined)] : [];
  }

  /** @param starting  the claim, while what it promised stands in for what the Node does not show yet */
  #asNode(
    { metadata, spec, status }: Live<Node>,
    claim: Live<NodeClaim> | undefined,
    starting: Live<NodeClaim> | undefined,
  ): NodeInSight {
    const { name, labels = {} } = metadata;
    const there = (spec?.taints ?? []).filter(
      (taint) => !starting || !isEphemeral(taint, starting),
    );
    const shown = withoutZeros(status?.allocatable);
    const allocatable = { ...starting?.status?.allocatable, ...shown };
    const room = this.#room({ node: fromLabels(labels), taints: there, allocatable }, name, claim);
    return { name, kind: 'node', labels, taints: there, allocatable, ...room };
  }

  #coming(claim: Live<NodeClaim>, offer: Offer | undefined): NodeInSight {
    const { metadata, spec, status } = claim;
    const known = { ...nodeLabels(spec.nodeClassRef.name, offer), ...metadata.labels };
    const { requirements } = spec;
    const all = [taints.kraftlet, ...(spec.taints ?? [])];
    const allocatable = status?.allocatable ?? status?.capacity ?? this.#least(claim, offer);
    const offered = intersect(fromSelector(requirements), fromLabels(known));
    const room = this.#room({ node: offered, taints: all, allocatable }, undefined, claim);
    return {
      name: metadata.name,
      kind: 'claim',
      labels: known,
      taints: all,
      allocatable,
      requirements,
      ...room,
    };
  }

  #least(claim: Live<NodeClaim>, offer: Offer | undefined): ResourceList {
    return smallestOf(claim, offer, this.#ceilings.capOf(this.#ceilings.membershipOf(claim)));
  }

  /** What Pods take: bound ones, planned ones, and those of DaemonSets that are still to come. */
  #room(
    { node, taints: there, allocatable }: Bare,
    nodeName: string | undefined,
    claim: Live<NodeClaim> | undefined,
  ): { requested: ResourceList; empty: boolean } {
    const { pods, daemonSets } = this.#context.caches;
    const bound =
      nodeName === undefined ? [] : pods.by(by.node, nodeName).filter((pod) => !isTerminal(pod));
    const daemons = bound.filter((pod) => isOwnedBy(pod, 'DaemonSet'));
    const planned = this.#planned(claim);
    const expected = daemonOverhead(daemonSets.list(), node, there, allocatable);
    const missing = positive(minus(expected, this.#sum(daemons)));
    return {
      requested: toList(plus(plus(this.#sum(bound), this.#sum(planned)), missing)),
      empty: bound.length === daemons.length && planned.length === 0,
    };
  }

  #planned(claim: Live<NodeClaim> | undefined): Live<Pod>[] {
    return this.#nominations
      .podsOf(claim?.metadata.name ?? '')
      .map((key) => this.#context.caches.pods.get(key))
      .filter((pod) => pod !== undefined)
      .filter(({ spec }) => !spec?.nodeName);
  }

  #sum(pods: readonly Live<Pod>[]): Amounts {
    return pods.map((pod) => this.#requestsOf(pod)).reduce(plus, new Map<string, bigint>());
  }

  #requestsOf(pod: Pod): Amounts {
    const known = this.#requests.get(pod) ?? toAmounts(boundPodRequests(pod));
    this.#requests.set(pod, known);
    return known;
  }
}

/** Nobody new comes here: it is cordoned or going, or it is ours and not, or no more, open. */
function isClosed({ metadata, spec }: Live<Node>, claim: Live<NodeClaim> | undefined): boolean {
  if (metadata.deletionTimestamp !== undefined || spec?.unschedulable) return true;
  if (!claim) return isOurNode({ metadata });
  return isGoing(claim) || !isTrue(claim.status?.conditions, 'Registered');
}

function isReady({ status }: Node): boolean {
  return (
    status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true
  );
}

function isGoing(claim: Live<NodeClaim>): boolean {
  const { metadata, status } = claim;
  return (
    metadata.deletionTimestamp !== undefined || isTrue(status?.conditions, 'InstanceTerminating')
  );
}

function positive(amounts: Amounts): Amounts {
  return new Map([...amounts].filter(([, amount]) => amount > 0n));
}
