import { isConflict, isNotFound } from '#kube/client/errors.ts';
import type { Reconciler, Result } from '#kube/runtime/reconciler.ts';
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { annotations, finalizers } from '#schemas/names.ts';
import { milliseconds, seconds } from '#schemas/time/clock.ts';

import type { Context } from '../context.ts';
import type { Freshest } from '../freshest.ts';
import type { Revisions } from '../nodeclass/revisions.ts';
import { isOurs } from '../ours.ts';
import { ClaimInHand, type StampedRevision } from './claim-in-hand.ts';
import type { ClaimWriter } from './claim-writer.ts';
import { deadlineNow, endOf, leftOf } from './liveness.ts';
import type { NodeClaimMetrics } from './metrics.ts';
import { runChain } from './run-chain.ts';
import { end, type End, type Outcome, type Step } from './step.ts';
import { terminationTimestamp } from './termination-deadline.ts';

/** A chain that starts again reads what the pass before wrote; this bounds how fast it can turn. */
const soon = milliseconds(100);
const missing = seconds(30);

export interface Chains {
  readonly launch: readonly Step[];
  readonly termination: readonly Step[];
}

/**
 * Leads each NodeClaim of ours through its life: the launch chain until its Node is initialised, the termination
 * chain once it is deleted. All that is known between two passes stands in the API and in the clouds.
 */
export class NodeClaimController implements Reconciler {
  readonly #context: Context;
  readonly #claims: Freshest<NodeClaim>;
  readonly #revisions: Revisions;
  readonly #writer: ClaimWriter;
  readonly #metrics: NodeClaimMetrics;
  readonly #chains: Chains;

  constructor(
    context: Context,
    parts: {
      claims: Freshest<NodeClaim>;
      revisions: Revisions;
      writer: ClaimWriter;
      metrics: NodeClaimMetrics;
      chains: Chains;
    },
  ) {
    this.#context = context;
    this.#claims = parts.claims;
    this.#revisions = parts.revisions;
    this.#writer = parts.writer;
    this.#metrics = parts.metrics;
    this.#chains = parts.chains;
  }

  /** @param key name of a NodeClaim */
  async reconcile(key: string, signal: AbortSignal): Promise<Result> {
    const claim = this.#claims.get(key);
    if (!claim || !isOurs(claim)) return {};
    const { clusterUid, clock } = this.#context;
    const hand = new ClaimInHand(claim, this.#stampedRevision(claim), clusterUid, clock);
    try {
      return claim.metadata.deletionTimestamp === undefined
        ? await this.#launch(hand, signal)
        : await this.#terminate(hand, signal);
    } catch (error) {
      if (isConflict(error)) return { requeueAfter: soon }; // somebody else wrote: look again
      throw error;
    }
  }

  async #launch(hand: ClaimInHand, signal: AbortSignal): Promise<Result> {
    if (this.#nodeIsLeaving(hand)) return this.#follow(hand);
    if (hand.is('Initialized')) return {};
    await this.#hold(hand);
    const outcome = this.#judge(hand, await runChain(this.#chains.launch, hand, signal));
    if (outcome.kind === 'end') return this.#end(hand, outcome.end);
    await this.#writer.status(hand);
    if (outcome.kind === 'done') this.#metrics.initialized(hand);
    return this.#next(hand, outcome);
  }

  /** A claim that waits past its deadline ends; what it waited for is the reason. */
  #judge(hand: ClaimInHand, outcome: Outcome): Outcome {
    const deadline = deadlineNow(hand, hand.revision?.nodeClass.spec);
    if (outcome.kind !== 'wait' || !deadline) return outcome;
    return leftOf(deadline, this.#context.clock) > 0
      ? outcome
      : end(endOf(deadline, outcome.message));
  }

  #next(hand: ClaimInHand, outcome: Outcome): Result {
    if (outcome.kind === 'again') return { requeueAfter: soon };
    if (outcome.kind !== 'wait') return {};
    const deadline = deadlineNow(hand, hand.revision?.nodeClass.spec);
    const left = deadline ? leftOf(deadline, this.#context.clock) : Number.POSITIVE_INFINITY;
    const requeueAfter = Math.max(soon, Math.min(outcome.after ?? Number.POSITIVE_INFINITY, left));
    return Number.isFinite(requeueAfter) ? { requeueAfter } : {};
  }

  async #end(hand: ClaimInHand, { metric, reason, message }: End): Promise<Result> {
    this.#context.recorder.record({ object: hand.claim, type: 'Warning', reason, message });
    this.#context.log.warn({ nodeClaim: hand.identity.claim, reason, message }, 'claim ends');
    this.#metrics.ended(hand, metric);
    await this.#writer.delete(hand);
    return {};
  }

  /** `kubectl delete node` means the machine: the claim goes too, and drains the Node that its finalizer holds. */
  #nodeIsLeaving({ status }: ClaimInHand): boolean {
    const node = this.#context.caches.nodes.get(status.nodeName ?? '');
    return node?.metadata.deletionTimestamp !== undefined;
  }

  async #follow(hand: ClaimInHand): Promise<Result> {
    await this.#writer.delete(hand);
    return {};
  }

  async #terminate(hand: ClaimInHand, signal: AbortSignal): Promise<Result> {
    if (!isHeldBy(hand.claim)) return {};
    if (hand.stamped !== undefined && !hand.revision) return this.#cannotFind(hand);
    await this.#stampDeadline(hand);
    const outcome = await runChain(this.#chains.termination, hand, signal);
    if (outcome.kind === 'done') return this.#release(hand);
    await this.#writer.status(hand).catch(ignoreGone);
    if (outcome.kind !== 'wait') return { requeueAfter: soon };
    return outcome.after === undefined ? {} : { requeueAfter: outcome.after };
  }

  /** Without its revision nobody knows where the machine is: letting the claim go would leave it running. */
  #cannotFind(hand: ClaimInHand): Result {
    const message =
      `ControllerRevision ${hand.stamped} is gone, so the machine cannot be found; restore it, or end the ` +
      `instance tagged with ${hand.identity.claimUid} by hand and remove the finalizer (KPU334)`;
    this.#context.recorder.record({
      object: hand.claim,
      type: 'Warning',
      reason: 'RevisionMissing',
      message,
    });
    return { requeueAfter: missing };
  }

  /** A claim made by hand has no finalizer yet; without it a deletion would leave its machine behind. */
  async #hold(hand: ClaimInHand): Promise<void> {
    if (isHeldBy(hand.claim)) return;
    const present = hand.claim.metadata.finalizers ?? [];
    await this.#writer.stamp(hand, { finalizers: [...present, finalizers.termination] });
  }

  async #stampDeadline(hand: ClaimInHand): Promise<void> {
    const at = terminationTimestamp(hand.claim);
    const { annotations: present = {} } = hand.claim.metadata;
    if (at === undefined || present[annotations.terminationTimestamp] !== undefined) return;
    await this.#writer.stamp(hand, { annotations: { [annotations.terminationTimestamp]: at } });
  }

  async #release(hand: ClaimInHand): Promise<Result> {
    const present = hand.claim.metadata.finalizers ?? [];
    const kept = present.filter((one) => one !== finalizers.termination);
    await this.#writer.stamp(hand, { finalizers: kept }).catch(ignoreGone);
    this.#metrics.terminated(hand);
    return {};
  }

  #stampedRevision(claim: Live<NodeClaim>): StampedRevision | undefined {
    const name = claim.metadata.annotations?.[annotations.revision];
    if (name === undefined) return undefined;
    const nodeClass = this.#revisions.get(name);
    // Deleted by hand: the class as it is now most likely still names the place.
    return nodeClass ? { name, nodeClass } : this.#revisions.current(claim.spec.nodeClassRef.name);
  }
}

function isHeldBy({ metadata }: Live<NodeClaim>): boolean {
  return (metadata.finalizers ?? []).includes(finalizers.termination);
}

function ignoreGone(error: unknown): void {
  if (!isNotFound(error)) throw error;
}
