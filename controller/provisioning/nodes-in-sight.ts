/**
 * Nodes that pending Pods may still go to: those that are there, and machines that are on their way, which count as
 * what they will be. So a machine is never launched for a Pod that one is coming for. And the Pods that have a place, on
 * these or on nodes that take no more, since rules between Pods look at them.
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
import type { BoundPod, ClosedNode, NodeInSight } from '#scheduling/solver.ts';
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { Node, Pod, Taint } from '#schemas/kubernetes/core.ts';
import type { Live, ResourceList } from '#schemas/kubernetes/meta.ts';
import { labels, taints } from '#schemas/names.ts';

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

/** A node with the Pods that are on it, or planned for it. */
interface Found {
  readonly node: NodeInSight;
  readonly pods: readonly Live<Pod>[];
}

/** A node before any Pod is on it. */
interface Bare {
  readonly node: Requirements;
  readonly taints: readonly Taint[];
  readonly allocatable: ResourceList;
}

/** What a problem says of all that is there. */
export interface Sight {
  readonly nodes: readonly NodeInSight[];
  readonly bound: readonly BoundPod[];
  readonly closed: readonly ClosedNode[];
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
  look(claims: readonly Live<NodeClaim>[], offers: Offers): Sight {
    const byNode = new Map(
      claims.flatMap((claim) => this.#nodesOf(claim).map((node) => [node.metadata.name, claim])),
    );
    const known = this.#context.caches.nodes.list();
    const there = known.flatMap((node) => this.#there(node, byNode.get(node.metadata.name)));
    const coming = claims
      .filter((claim) => !isGoing(claim) && !isTrue(claim.status?.conditions, 'Registered'))
      .map((claim) => this.#coming(claim, offers.get(claim.spec.nodeClassRef.name)));
    const open = new Set(there.map(({ node }) => node.name));
    const closed = known.filter((node) => !open.has(node.metadata.name) && !isUnborn(node));
    return {
      nodes: [...there, ...coming].map(({ node }) => node),
      bound: [
        ...[...there, ...coming].flatMap(({ node, pods }) =>
          pods.map((pod) => ({ pod, on: node.name })),
        ),
        ...closed.flatMap(({ metadata: { name } }) =>
          this.#on(name).map((pod) => ({ pod, on: name })),
        ),
      ],
      closed: closed.map(({ metadata: { name, labels: own = {} }, spec }) => ({
        name,
        labels: own,
        taints: spec?.taints ?? [],
      })),
    };
  }

  #nodesOf({ status }: NodeClaim): Live<Node>[] {
    if (status?.nodeName === undefined && status?.providerID === undefined) return [];
    const { nodes } = this.#context.caches;
    const named = nodes.get(status.nodeName ?? '');
    return named ? [named] : nodes.by(by.providerID, status.providerID ?? '');
  }

  /** A Node that takes Pods, or will once what only holds its start is gone. */
  #there(node: Live<Node>, claim: Live<NodeClaim> | undefined): Found[] {
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
  ): Found {
    const { name, labels: own = {} } = metadata;
    const there = (spec?.taints ?? []).filter(
      (taint) => !starting || !isEphemeral(taint, starting),
    );
    const shown = withoutZeros(status?.allocatable);
    const allocatable = { ...starting?.status?.allocatable, ...shown };
    const bare = { node: fromLabels(own), taints: there, allocatable };
    const { pods, ...room } = this.#room(bare, name, claim);
    return { node: { name, kind: 'node', labels: own, taints: there, allocatable, ...room }, pods };
  }

  #coming(claim: Live<NodeClaim>, offer: Offer | undefined): Found {
    const { metadata, spec, status } = claim;
    const known = { ...nodeLabels(spec.nodeClassRef.name, offer), ...metadata.labels };
    const { requirements } = spec;
    const all = [taints.kraftlet, ...(spec.taints ?? [])];
    const allocatable = status?.allocatable ?? status?.capacity ?? this.#least(claim, offer);
    const offered = intersect(fromSelector(requirements), fromLabels(known));
    const bare = { node: offered, taints: all, allocatable };
    const { pods, ...room } = this.#room(bare, undefined, claim);
    const { name } = metadata;
    const node = { name, kind: 'claim', labels: known, taints: all, allocatable } as const;
    return { node: { ...node, requirements, ...room }, pods };
  }

  #least(claim: Live<NodeClaim>, offer: Offer | undefined): ResourceList {
    return smallestOf(claim, offer, this.#ceilings.capOf(this.#ceilings.membershipOf(claim)));
  }

  /** What Pods take: bound ones, planned ones, and those of DaemonSets that are still to come. */
  #room(
    { node, taints: there, allocatable }: Bare,
    nodeName: string | undefined,
    claim: Live<NodeClaim> | undefined,
  ): Pick<NodeInSight, 'requested' | 'empty'> & Pick<Found, 'pods'> {
    const { daemonSets } = this.#context.caches;
    const bound = nodeName === undefined ? [] : this.#on(nodeName);
    const daemons = bound.filter((pod) => isOwnedBy(pod, 'DaemonSet'));
    const planned = this.#planned(claim);
    const expected = daemonOverhead(daemonSets.list(), node, there, allocatable);
    const missing = positive(minus(expected, this.#sum(daemons)));
    return {
      requested: toList(plus(plus(this.#sum(bound), this.#sum(planned)), missing)),
      empty: bound.length === daemons.length && planned.length === 0,
      pods: [...bound, ...planned],
    };
  }

  /** Pods that are bound to a Node and not over. */
  #on(nodeName: string): Live<Pod>[] {
    return this.#context.caches.pods.by(by.node, nodeName).filter((pod) => !isTerminal(pod));
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

/** A Node that Kraftlet has made and registration has not opened: its claim stands for it, if there is one. */
function isUnborn({ metadata }: Live<Node>): boolean {
  return isOurNode({ metadata }) && metadata.labels?.[labels.registered] !== 'true';
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
