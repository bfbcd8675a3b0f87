import { isTrue } from '#kube/conditions.ts';
import type { NodeClaim, NodePool } from '#schemas/karpenter/types.ts';
import type { Node, Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { annotations } from '#schemas/names.ts';
import type { Clock } from '#schemas/time/clock.ts';

import { by, type Caches } from '../caches.ts';
import { kraftletRuns } from '../nodeclaim/kraftlet/running.ts';
import { consolidatableAt } from './consolidatable.ts';
import type { PodActivity } from './pod-activity.ts';
import { forbidsDisruption, keepsMachine, type Surroundings } from './pods.ts';

/** Pods (namespace/name) that wait for a claim; what the provisioner has planned. */
export type PodsPlannedFor = (claim: string) => readonly string[];

/** A machine that runs, as one claim and its one Node. */
export interface Machine {
  readonly claim: Live<NodeClaim>;
  readonly node: Live<Node>;
}

/** What is known about Pods, to judge emptiness by. */
export interface Occupancy {
  readonly caches: Pick<Caches, 'pods' | 'statefulSets'>;
  readonly activity: PodActivity;
  readonly plannedFor: PodsPlannedFor;
  readonly clock: Clock;
  /** Names of Nodes that Pods which are not bound yet are nominated for. */
  readonly nominated: ReadonlySet<string>;
}

/**
 * Why a machine stays, from a look at everything that speaks for it.
 * - `busy`: it is used, or was until a moment ago: nothing to tell
 * - `blocked`: it is empty, and somebody asked that it stays
 */
export interface Objection {
  readonly kind: 'busy' | 'blocked';
  readonly message: string;
  /** Time alone may take it away, and no change tells. */
  readonly passes?: boolean;
}

/**
 * What speaks against removing a machine as empty; undefined when nothing does.
 *
 * @param pods those bound to its Node
 */
export function objectionTo(
  { claim, node }: Machine,
  pool: NodePool,
  pods: readonly Pod[],
  occupancy: Occupancy,
): Objection | undefined {
  const { clock, activity } = occupancy;
  if (consolidatableAt(claim, pool, activity.latest(node.metadata.name), clock) > clock.now()) {
    return busy('its Pods changed within consolidateAfter');
  }
  const surroundings = surroundingsOf(claim, occupancy);
  const guests = pods.filter((pod) => keepsMachine(pod, surroundings));
  if (guests[0])
    return { ...busy(`Pod ${nameOf(guests[0])} is on it`), passes: guests.every(ends) };
  if (isAwaited({ claim, node }, occupancy))
    return { ...busy('a Pod is planned for it'), passes: true };
  const guarded = [node, claim].find(isGuarded);
  if (guarded) return blocked(`its ${guarded === node ? 'Node' : 'NodeClaim'} asks not to be`);
  const guard = pods.find((pod) => forbidsDisruption(pod, clock));
  return guard && blocked(`Pod ${nameOf(guard)} asks not to be`);
}

/** Initialised machines of a pool with their Nodes; those that are leaving too. */
export function machinesOf(
  claims: readonly Live<NodeClaim>[],
  caches: Pick<Caches, 'nodes'>,
): Machine[] {
  return claims
    .filter(({ status }) => isTrue(status?.conditions, 'Initialized'))
    .flatMap((claim) => {
      const node = nodeOf(claim, caches);
      return node ? [{ claim, node }] : [];
    });
}

export function nodeOf(
  { status }: NodeClaim,
  { nodes }: Pick<Caches, 'nodes'>,
): Live<Node> | undefined {
  const [node] = status?.providerID ? nodes.by(by.providerID, status.providerID) : [];
  return node;
}

export function surroundingsOf(
  { metadata }: Live<NodeClaim>,
  { caches, clock }: { caches: Pick<Caches, 'statefulSets'>; clock: Clock },
): Surroundings {
  return { hasKraftlet: kraftletRuns(caches, metadata.uid), clock };
}

/** Whether the claim or its Node is on its way out already. */
export function isLeaving({ claim, node }: Machine): boolean {
  return (
    claim.metadata.deletionTimestamp !== undefined || node.metadata.deletionTimestamp !== undefined
  );
}

/** Nodes that unbound Pods are nominated for, by us or by the scheduler's preemption. */
export function nominatedNodes({ pods }: Pick<Caches, 'pods'>): Set<string> {
  return new Set(
    pods
      .list()
      .filter(({ spec }) => !spec?.nodeName)
      .flatMap(({ status }) => status?.nominatedNodeName || []),
  );
}

function isAwaited({ claim, node }: Machine, { plannedFor, nominated }: Occupancy): boolean {
  return plannedFor(claim.metadata.name).length > 0 || nominated.has(node.metadata.name);
}

function isGuarded({ metadata }: NodeClaim | Node): boolean {
  return metadata?.annotations?.[annotations.doNotDisrupt] === 'true';
}

function ends({ metadata }: Pod): boolean {
  return metadata?.deletionTimestamp !== undefined;
}

function nameOf({ metadata }: Pod): string {
  return `${metadata?.namespace}/${metadata?.name}`;
}

const busy = (message: string): Objection => ({ kind: 'busy', message });
const blocked = (asks: string): Objection => ({
  kind: 'blocked',
  message: `${asks} disrupted (${annotations.doNotDisrupt}) (KPU401)`,
});
