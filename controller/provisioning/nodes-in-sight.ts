/**
 * Nodes that pending Pods may still go to: those that are there, and machines that are on their way, which count as
 * what they will be. So a machine is never launched for a Pod that one is coming for. And the Pods that have a place, on
 * these or on nodes that take no more, since rules between Pods look at them.
 *
 * Source: Karpenter v1.15, pkg/controllers/state/statenode.go; unlike there, no claim ever stops a pass.
 */
import { isTrue } from '#kube/conditions.ts';
import { minus, plus, toAmounts, toList, type Amounts } from '#scheduling/amounts.ts';
import { daemonOverhead, daemonTrouble, labelsInTheEnd } from '#scheduling/daemon-overhead.ts';
import { boundPodRequests } from '#scheduling/pod-requests.ts';
import {
  fromLabels,
  fromSelector,
  intersect,
  type Requirements,
} from '#scheduling/requirements.ts';
import type { BoundPod, ClosedNode, NodeInSight } from '#scheduling/solver.ts';
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { DaemonSet, Node, Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { labels, taints } from '#schemas/names.ts';
import { placeOf } from '#schemas/nodeclass/place.ts';
import type { MachineCap } from '#schemas/quotapolicy/ceilings.ts';

import { by } from '../caches.ts';
import type { Offer } from '../catalog.ts';
import type { Context } from '../context.ts';
import { isOurNode } from '../ours.ts';
import { Ceilings } from '../reservations/ceilings.ts';
import { isEphemeral, smallestOf, withoutZeros } from './in-flight.ts';
import { isGoing } from './leaving/leaving-pods.ts';
import type { Nominations } from './nominations.ts';
import { nodeLabels } from './pools-in-sight.ts';
import { isOwnedBy } from './provisionable.ts';
import { isSameList, SeenNodes, type Found } from './seen-nodes.ts';
import type { Slices } from './slices.ts';
import { Unreadable } from './unreadable.ts';

type Offers = ReadonlyMap<string, Offer>;

/** What is looked at, as the caches had it in one moment. */
export interface Picture {
  /** All claims of ours, those included that the cache does not show yet. */
  readonly claims: readonly Live<NodeClaim>[];
  readonly offers: Offers;
  /** Pods that are on a Node and not over, by its name. */
  readonly placed: ReadonlyMap<string, readonly Live<Pod>[]>;
  /** Those of them that another place is sought for: rules look at them there, and no more where they are. */
  readonly leaving?: readonly Live<Pod>[];
}

/** A node before any Pod is on it. */
type Empty = Omit<NodeInSight, 'requested' | 'empty'>;

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
  readonly #shut = new WeakMap<Node, ClosedNode>();
  readonly #seen = new SeenNodes();
  readonly #unreadable: Unreadable;
  #daemonSets: readonly Live<DaemonSet>[] = [];

  constructor(context: Context, nominations: Nominations) {
    this.#context = context;
    this.#nominations = nominations;
    this.#ceilings = new Ceilings(context.caches);
    this.#unreadable = new Unreadable(context.log);
  }

  async look({ claims, offers, placed, leaving = [] }: Picture, slices: Slices): Promise<Sight> {
    const known = this.#context.caches.nodes.list();
    this.#steadyDaemonSets();
    const byNode = new Map<string, Live<NodeClaim>>();
    await slices.each(claims, (claim) => {
      for (const { metadata } of this.#nodesOf(claim)) byNode.set(metadata.name, claim);
    });
    const there = await slices.map(known, (node) =>
      this.#there(node, byNode.get(node.metadata.name), placed.get(node.metadata.name) ?? []),
    );
    const coming = await slices.map(claims.filter(isComing), (claim) =>
      this.#coming(claim, offers.get(claim.spec.nodeClassRef.name)),
    );
    this.#seen.turn();
    const found = [...there, ...coming].filter((one) => one !== undefined);
    const open = new Set(found.map(({ node }) => node.name));
    const closed = known.filter((node) => !open.has(node.metadata.name) && !isUnborn(node));
    const moving = new Set(leaving);
    const shut = closed.flatMap(({ metadata: { name } }) =>
      (placed.get(name) ?? [])
        .filter((pod) => !moving.has(pod))
        .map((pod) => this.#seen.place(pod, name)),
    );
    return {
      nodes: found.map(({ node }) => node),
      bound: [...found.flatMap(({ bound }) => bound), ...shut],
      closed: closed.map((node) => this.#closed(node)),
    };
  }

  /** The very same list as long as it has the very same objects. */
  #steadyDaemonSets(): void {
    const now = this.#context.caches.daemonSets.list();
    if (isSameList(now, this.#daemonSets)) return;
    this.#daemonSets = now;
    for (const set of now) {
      const trouble = daemonTrouble(set);
      if (trouble) this.#unreadable.tell('DaemonSet', set, trouble);
    }
  }

  #nodesOf({ status }: NodeClaim): Live<Node>[] {
    if (status?.nodeName === undefined && status?.providerID === undefined) return [];
    const { nodes } = this.#context.caches;
    const named = nodes.get(status.nodeName ?? '');
    return named ? [named] : nodes.by(by.providerID, status.providerID ?? '');
  }

  /** A Node that takes Pods, or will once what only holds its start is gone. */
  #there(
    node: Live<Node>,
    claim: Live<NodeClaim> | undefined,
    on: readonly Live<Pod>[],
  ): Found | undefined {
    if (isClosed(node, claim)) return undefined;
    const isStarting = claim !== undefined && !isTrue(claim.status?.conditions, 'Initialized');
    if (!isStarting && !isReady(node)) return undefined;
    const { name } = node.metadata;
    const pods = { on, planned: this.#planned(claim) };
    const basis = [node, claim, this.#daemonSets, ...on, undefined, ...pods.planned];
    return this.#unreadable.without('Node', node, () =>
      this.#seen.see(`node ${name}`, basis, () =>
        this.#found(this.#asNode(node, isStarting ? claim : undefined), pods),
      ),
    );
  }

  /** @param starting  the claim, while what it promised stands in for what the Node does not show yet */
  #asNode(
    { metadata, spec, status }: Live<Node>,
    starting: Live<NodeClaim> | undefined,
  ): readonly [Empty, Requirements] {
    const { name, labels: own = {} } = metadata;
    const there = (spec?.taints ?? []).filter(
      (taint) => !starting || !isEphemeral(taint, starting),
    );
    const shown = withoutZeros(status?.allocatable);
    const allocatable = { ...starting?.status?.allocatable, ...shown };
    const offered = fromLabels(starting ? { ...own, ...labelsInTheEnd } : own);
    return [{ name, kind: 'node', labels: own, taints: there, allocatable }, offered];
  }

  #coming(claim: Live<NodeClaim>, offer: Offer | undefined): Found | undefined {
    const cap = this.#ceilings.capOf(this.#ceilings.membershipOf(claim));
    const pods = { on: [], planned: this.#planned(claim) };
    const about = [
      offer?.instanceTypes,
      offer && placeOf(offer.nodeClass.spec)?.region,
      JSON.stringify(cap),
    ];
    const basis = [claim, this.#daemonSets, ...about, ...pods.planned];
    return this.#unreadable.without('NodeClaim', claim, () =>
      this.#seen.see(`claim ${claim.metadata.name}`, basis, () =>
        this.#found(this.#asComing(claim, offer, cap), pods),
      ),
    );
  }

  #asComing(
    claim: Live<NodeClaim>,
    offer: Offer | undefined,
    cap: MachineCap,
  ): readonly [Empty, Requirements] {
    const { metadata, spec, status } = claim;
    const known = { ...nodeLabels(spec.nodeClassRef.name, offer), ...metadata.labels };
    const { requirements } = spec;
    const all = [taints.kraftlet, ...(spec.taints ?? [])];
    const allocatable = status?.allocatable ?? status?.capacity ?? smallestOf(claim, offer, cap);
    toAmounts(allocatable); // throws here, where one claim is left out, and not where all are planned for
    const offered = intersect(
      fromSelector(requirements),
      fromLabels({ ...known, ...labelsInTheEnd }),
    );
    const { name } = metadata;
    const node = { name, kind: 'claim', labels: known, taints: all, allocatable } as const;
    return [{ ...node, requirements }, offered];
  }

  /** What Pods take: bound ones, planned ones, and those of DaemonSets that are still to come. */
  #found(
    [node, offered]: readonly [Empty, Requirements],
    { on, planned }: { readonly on: readonly Live<Pod>[]; readonly planned: readonly Live<Pod>[] },
  ): Found {
    const daemons = on.filter((pod) => isOwnedBy(pod, 'DaemonSet'));
    const expected = daemonOverhead(this.#daemonSets, offered, node.taints, node.allocatable);
    const missing = positive(minus(expected, this.#sum(daemons)));
    return {
      node: {
        ...node,
        requested: toList(plus(plus(this.#sum(on), this.#sum(planned)), missing)),
        empty: on.length === daemons.length && planned.length === 0,
      },
      bound: [...on, ...planned].map((pod) => this.#seen.place(pod, node.name)),
    };
  }

  #closed(node: Live<Node>): ClosedNode {
    const known = this.#shut.get(node);
    if (known) return known;
    const { name, labels: own = {} } = node.metadata;
    const shut = { name, labels: own, taints: node.spec?.taints ?? [] };
    this.#shut.set(node, shut);
    return shut;
  }

  #planned(claim: Live<NodeClaim> | undefined): readonly Live<Pod>[] {
    return claim ? this.#nominations.waitingFor(claim.metadata.name) : [];
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

/** A machine whose Node is not there, or not open. */
function isComing(claim: Live<NodeClaim>): boolean {
  return !isGoing(claim) && !isTrue(claim.status?.conditions, 'Registered');
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

function positive(amounts: Amounts): Amounts {
  return new Map([...amounts].filter(([, amount]) => amount > 0n));
}
