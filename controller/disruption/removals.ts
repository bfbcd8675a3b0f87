import { isNotFound } from '#kube/client/errors.ts';
import { isTrue, scopeOf, setCondition } from '#kube/conditions.ts';
import { nodeClaims, type NodeClaim, type NodePool } from '#schemas/karpenter/types.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { pods } from '#schemas/kubernetes/resource.ts';
import { seconds, type Duration, type Instant } from '#schemas/time/clock.ts';

import type { Context } from '../context.ts';
import { patchStatus } from '../status-patch.ts';
import { isLeaving, surroundingsOf, type Machine, type Objection } from './candidates.ts';
import * as events from './events.ts';
import type { DisruptionMetrics } from './metrics.ts';
import { close, isClosed, open } from './node-taint.ts';
import { keepsMachine } from './pods.ts';

const condition = 'DisruptionReason';

interface Removal {
  readonly since: Instant;
  /** The claim was deleted, and the cache has not shown it yet. */
  readonly isDeleted: boolean;
}

/**
 * The machines that are about to be removed, from the moment one is chosen until its claim is seen leaving.
 *
 * The scheduler may bind a Pod while we decide. So the Node is closed first; after a short wait, in which a binding
 * that was under way arrives, the Pods of the Node are read from the API server itself; and only when none is there
 * is the claim deleted. Otherwise the Node is opened again.
 *
 * What is chosen is remembered in memory alone: after a restart, closed Nodes whose claims stay are opened and the
 * choice is made anew.
 */
export class Removals {
  readonly #context: Context;
  readonly #metrics: DisruptionMetrics;
  readonly #wait: Duration;
  /** By UID of the claim. */
  readonly #chosen = new Map<string, Removal>();

  /** @param options.wait between closing a Node and the second look; upstream waits 15 s before it closes */
  constructor(context: Context, metrics: DisruptionMetrics, options: { wait?: Duration } = {}) {
    this.#context = context;
    this.#metrics = metrics;
    this.#wait = options.wait ?? seconds(2);
    context.caches.nodeClaims.subscribe({
      update: ({ metadata }) => {
        if (metadata.deletionTimestamp !== undefined) this.#chosen.delete(metadata.uid);
      },
      delete: ({ metadata }) => this.#chosen.delete(metadata.uid),
    });
  }

  has({ metadata }: Live<NodeClaim>): boolean {
    return this.#chosen.has(metadata.uid);
  }

  /** Says on the claim what is about to happen, and closes the machine's Node. */
  async begin(machine: Machine): Promise<void> {
    const { client, clock } = this.#context;
    const { claim, node } = machine;
    this.#chosen.set(claim.metadata.uid, { since: clock.now(), isDeleted: false });
    try {
      const scope = scopeOf(claim, clock.stamp());
      const change = { type: condition, status: 'True', reason: 'Empty' } as const;
      const conditions = setCondition(claim.status?.conditions, change, scope);
      await patchStatus(client, nodeClaims, claim, { ...claim.status, conditions });
      await close(client, node);
    } catch (error) {
      this.#chosen.delete(claim.metadata.uid); // heal() takes back what was done
      throw error;
    }
  }

  /**
   * Deletes the claims whose wait is over and that are still empty; opens the Nodes of the others.
   *
   * @returns how long until something is left to do
   */
  async carryOut(
    pool: NodePool,
    machines: readonly Machine[],
    objection: (machine: Machine) => Objection | undefined,
    signal: AbortSignal,
  ): Promise<Duration> {
    for (const machine of machines.filter((one) => this.#isDue(one))) {
      // oxlint-disable-next-line no-await-in-loop -- a failure must not leave others half decided
      const against = objection(machine)?.message ?? (await this.#guestOf(machine, signal));
      // oxlint-disable-next-line no-await-in-loop -- a failure must not leave others half decided
      await (against === undefined ? this.#delete(machine, pool) : this.#giveUp(machine, against));
    }
    return this.dueIn(machines);
  }

  /**
   * Opens Nodes that were closed for a removal that nobody remembers, as after a restart.
   *
   * @returns how many there were
   */
  async heal(machines: readonly Machine[]): Promise<number> {
    const orphans = machines.filter(
      ({ claim, node }) =>
        !this.has(claim) && (isClosed(node) || isTrue(claim.status?.conditions, condition)),
    );
    await Promise.all(orphans.map(async (machine) => this.#reopen(machine)));
    return orphans.length;
  }

  dueIn(machines: readonly Machine[]): Duration {
    const waits = machines
      .map(({ claim }) => this.#chosen.get(claim.metadata.uid))
      .filter((removal) => removal !== undefined && !removal.isDeleted)
      .map((removal) => (removal?.since ?? 0) + this.#wait - this.#context.clock.now());
    return Math.min(Infinity, ...waits);
  }

  #isDue(machine: Machine): boolean {
    const removal = this.#chosen.get(machine.claim.metadata.uid);
    if (!removal || removal.isDeleted || isLeaving(machine)) return false;
    return removal.since + this.#wait <= this.#context.clock.now();
  }

  /** The cache may lag behind the scheduler, so the last word is the API server's. */
  async #guestOf({ claim, node }: Machine, signal: AbortSignal): Promise<string | undefined> {
    const fieldSelector = `spec.nodeName=${node.metadata.name}`;
    const { items } = await this.#context.client.list(pods, { fieldSelector, signal });
    const surroundings = surroundingsOf(claim, this.#context);
    const guest = items.find((pod) => keepsMachine(pod, surroundings));
    return guest && `Pod ${guest.metadata.namespace}/${guest.metadata.name} was just bound to it`;
  }

  async #delete(machine: Machine, pool: NodePool): Promise<void> {
    const { client, recorder, log } = this.#context;
    const { name, uid } = machine.claim.metadata;
    try {
      await client.delete(nodeClaims, { name }, { uid });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    this.#chosen.set(uid, { since: this.#context.clock.now(), isDeleted: true });
    if (!this.#context.caches.nodeClaims.get(name)) this.#chosen.delete(uid);
    events.terminating(machine, 'Empty').forEach((note) => recorder.record(note));
    this.#metrics.removedEmpty(machine.claim, pool);
    log.info({ nodeClaim: name, nodePool: pool.metadata?.name }, 'removing an empty machine');
  }

  async #giveUp(machine: Machine, message: string): Promise<void> {
    await this.#reopen(machine);
    this.#chosen.delete(machine.claim.metadata.uid);
    this.#metrics.rejected();
    const { recorder } = this.#context;
    events.rejected(machine, message).forEach((note) => recorder.record(note));
  }

  async #reopen({ claim, node }: Machine): Promise<void> {
    const { client } = this.#context;
    await open(client, node);
    const conditions = (claim.status?.conditions ?? []).filter(({ type }) => type !== condition);
    await patchStatus(client, nodeClaims, claim, { ...claim.status, conditions });
  }
}
