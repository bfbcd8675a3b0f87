import { ApiError, isConflict, isNotFound } from '#kube/client/errors.ts';
import { isTrue } from '#kube/conditions.ts';
import type { Metrics } from '#kube/metrics.ts';
import { MachineError } from '#machine/errors.ts';
import { InvalidCertificate } from '#pki/certificate.ts';
import type { NodeClaim, NodePool } from '#schemas/karpenter/types.ts';
import type { Node } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { annotations } from '#schemas/names.ts';
import { minutes } from '#schemas/time/clock.ts';

import { by } from '../../caches.ts';
import type { Context } from '../../context.ts';
import { allowedDisruptions } from '../../disruption/budgets.ts';
import { nodeOf } from '../../disruption/candidates.ts';
import { forbidsDisruption } from '../../disruption/pods.ts';
import { countDisrupted } from '../../metrics.ts';
import type { Revisions } from '../../nodeclass/revisions.ts';
import { isOurs } from '../../ours.ts';
import { coded } from '../../reason.ts';
import type { CredentialStore } from '../machine/credentials.ts';
import { ClaimInHand } from '../steps/claim-in-hand.ts';
import type { ClaimWriter } from '../steps/claim-writer.ts';
import { causeOf, reasons, type Cause } from './cause.ts';

const condition = 'Drifted';

export interface RenewalParts {
  readonly revisions: Revisions;
  readonly credentials: Pick<CredentialStore, 'get'>;
  readonly writer: ClaimWriter;
  readonly metrics: Metrics;
}

/** A machine that is to be replaced. */
interface Due {
  readonly hand: ClaimInHand;
  readonly cause: Cause;
}

/**
 * Renews certificates by replacing machines, since a machine keeps its own for life: one machine of a pool at a time, within
 * the budgets for `Drifted`, as soon as another one can be made. Its claim is deleted; the planning makes a machine for its
 * Pods before they leave.
 *
 * Certificates are known from the launch, or read from the machines' Secrets once after a restart.
 */
export class Renewal {
  readonly #context: Context;
  readonly #parts: RenewalParts;
  /** UIDs of claims that were deleted here, until the cache shows it. */
  readonly #going = new Set<string>();

  constructor(context: Context, parts: RenewalParts) {
    this.#context = context;
    this.#parts = parts;
    context.caches.nodeClaims.subscribe({
      delete: ({ metadata }) => this.#going.delete(metadata.uid),
    });
  }

  /** One look at all machines that run. */
  async look(signal: AbortSignal): Promise<void> {
    const due: Due[] = [];
    for (const hand of this.#machines()) {
      signal.throwIfAborted();
      // oxlint-disable-next-line no-await-in-loop -- after a restart each is read from the API server
      const cause = await this.#judge(hand);
      if (cause) due.push({ hand, cause });
    }
    const pools = Map.groupBy(due, ({ hand }) => hand.identity.nodePool ?? '');
    for (const [name, all] of pools) {
      const pool = this.#context.caches.nodePools.get(name);
      // oxlint-disable-next-line no-await-in-loop -- one pool after the other, as its budgets are read
      if (pool) await this.#safely(name, async () => this.#replaceOne(pool, all));
    }
  }

  #machines(): ClaimInHand[] {
    const { caches, clusterUid, clock } = this.#context;
    return caches.nodeClaims
      .list()
      .filter((claim) => isOurs(claim) && claim.metadata.deletionTimestamp === undefined)
      .map((claim) => {
        const name = claim.metadata.annotations?.[annotations.revision];
        const nodeClass = name === undefined ? undefined : this.#parts.revisions.get(name);
        const revision = name !== undefined && nodeClass ? { name, nodeClass } : undefined;
        return new ClaimInHand(claim, revision, clusterUid, clock);
      })
      .filter((hand) => hand.revision && hand.is('Initialized'));
  }

  async #judge(hand: ClaimInHand): Promise<Cause | undefined> {
    return this.#safely(hand.identity.claim, async () => {
      const cause = await this.#causeFor(hand);
      await this.#tell(hand, cause);
      return cause;
    });
  }

  /**
   * A machine whose certificate cannot be read, or whose claim cannot be written or deleted, keeps no other from being
   * renewed. What somebody else writes just now, or is gone, is looked at again in the next round.
   */
  async #safely<T>(what: string, act: () => Promise<T>): Promise<T | undefined> {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof ApiError || error instanceof InvalidCertificate)) throw error;
      if (isConflict(error) || isNotFound(error)) return undefined;
      const message = 'cannot see to the renewal of a certificate now; it is tried again';
      this.#context.log.warn({ what, err: error }, message);
      return undefined;
    }
  }

  async #causeFor(hand: ClaimInHand): Promise<Cause | undefined> {
    const { revisions, credentials } = this.#parts;
    const found = await credentials.get(hand).catch((error: unknown) => {
      if (!(error instanceof MachineError)) throw error;
      return undefined; // of another machine that has the name: nothing is known of this one
    });
    if (!found?.tls || !hand.revision) return undefined;
    const current = revisions.current(hand.identity.nodeClass)?.nodeClass;
    return causeOf(found.tls, hand.revision.nodeClass, current, this.#context.clock);
  }

  /** What somebody else calls drifted is left alone. */
  async #tell(hand: ClaimInHand, cause: Cause | undefined): Promise<void> {
    const told = hand.reasonOf(condition);
    if (cause) hand.set({ type: condition, status: 'True', ...cause });
    else if (told === undefined || !reasons.includes(told)) return;
    else hand.drop(condition);
    await this.#parts.writer.status(hand);
  }

  async #replaceOne(pool: Live<NodePool>, due: readonly Due[]): Promise<void> {
    const free = due
      .toSorted((a, b) => this.#rank(a) - this.#rank(b) || a.hand.createdAt - b.hand.createdAt)
      .filter((one) => {
        const against = this.#objectionTo(one.hand);
        if (against !== undefined) this.#blocked(one, against);
        return against === undefined;
      });
    const [first] = free;
    if (!first) return;
    const waitsFor = this.#holdUp(pool, first.hand);
    if (waitsFor === undefined) await this.#replace(first);
    else this.#blocked(first, waitsFor);
  }

  /** One that is not ready goes first: nobody loses by it, and it uses up a budget until it does. */
  #rank({ hand }: Due): number {
    return this.#isSick(hand.claim) ? 0 : 1;
  }

  #isSick(claim: NodeClaim): boolean {
    return !isTrue(nodeOf(claim, this.#context.caches)?.status?.conditions, 'Ready');
  }

  /**
   * Why this machine of the pool may not go now. Others that are not ready use the budgets, as those do that leave.
   *
   * Source: Karpenter v1.15, pkg/controllers/disruption/helpers.go, BuildDisruptionBudgetMapping.
   */
  #holdUp(pool: Live<NodePool>, { claim: own, identity }: ClaimInHand): string | undefined {
    const claims = this.#context.caches.nodeClaims.by(by.nodePool, pool.metadata.name);
    const isLeaving = ({ metadata }: (typeof claims)[number]): boolean =>
      metadata.deletionTimestamp !== undefined || this.#going.has(metadata.uid);
    const hands = claims.filter(({ status }) =>
      status?.conditions?.some(({ type, status: is }) => type === 'Initialized' && is === 'True'),
    );
    const leaving = hands.filter(isLeaving).length;
    const staying = hands.filter((claim) => !isLeaving(claim));
    const notReady = staying.filter(
      (claim) => claim.metadata.uid !== own.metadata.uid && this.#isSick(claim),
    ).length;
    if (claims.some((claim) => this.#going.has(claim.metadata.uid))) {
      return 'another machine is being replaced';
    }
    if (!this.#parts.revisions.current(identity.nodeClass))
      return 'no machine can be made of its node class';
    const counts = { nodes: hands.length, leaving, notReady };
    return allowedDisruptions(pool, counts, 'Drifted') > 0
      ? undefined
      : 'the budgets allow no disruption for reason Drifted now';
  }

  /** With terminationGracePeriod the claim says itself how long its Pods may object, as upstream reads it. */
  #objectionTo({ claim }: ClaimInHand): string | undefined {
    const { caches, clock } = this.#context;
    const node = nodeOf(claim, caches);
    if ([claim, node].some((one) => asksToStay(one)))
      return `${annotations.doNotDisrupt} is set on it`;
    if (!node || claim.spec.terminationGracePeriod !== undefined) return undefined;
    const guard = caches.pods
      .by(by.node, node.metadata.name)
      .find((pod) => forbidsDisruption(pod, clock));
    return (
      guard && `Pod ${guard.metadata.namespace}/${guard.metadata.name} asks not to be disrupted`
    );
  }

  async #replace({ hand, cause }: Due): Promise<void> {
    const { recorder, caches } = this.#context;
    this.#going.add(hand.identity.claimUid);
    try {
      await this.#parts.writer.delete(hand);
    } catch (error) {
      this.#going.delete(hand.identity.claimUid);
      throw error;
    }
    const node = nodeOf(hand.claim, caches);
    for (const object of [hand.claim, ...(node ? [node] : [])]) {
      const message = `Disrupting: Drifted. ${cause.message}`;
      recorder.record({ object, type: 'Normal', reason: 'DisruptionTerminating', message });
    }
    countDisrupted(this.#parts.metrics, hand.claim, { reason: 'drifted' });
  }

  #blocked({ hand, cause }: Due, why: string): void {
    const message = coded(`Is to be replaced (${cause.reason}), and stays: ${why}`, 'KPU369');
    const note = { type: 'Normal', reason: 'DisruptionBlocked', message } as const;
    this.#context.recorder.record({ ...note, object: hand.claim, dedupeTimeout: minutes(15) });
  }
}

function asksToStay(object: Live<Node> | ClaimInHand['claim'] | undefined): boolean {
  return object?.metadata.annotations?.[annotations.doNotDisrupt] === 'true';
}
