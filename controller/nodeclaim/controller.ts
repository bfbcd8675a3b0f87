import { isConflict, isNotFound } from '#kube/client/errors.ts';
import type { Reconciler, Result } from '#kube/runtime/reconciler.ts';
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { annotations, finalizers } from '#schemas/names.ts';
import { milliseconds, seconds, type Duration } from '#schemas/time/clock.ts';

import type { Context } from '../context.ts';
import type { Freshest } from '../freshest.ts';
import type { Revisions } from '../nodeclass/revisions.ts';
import { isOurs } from '../ours.ts';
import { progress } from './events.ts';
import { deadlineNow, endOf, leftOf } from './launch/liveness.ts';
import type { LostNode } from './lost-node.ts';
import type { NodeClaimMetrics } from './metrics.ts';
import { ClaimInHand, type StampedRevision } from './steps/claim-in-hand.ts';
import type { ClaimWriter } from './steps/claim-writer.ts';
import { isRevisionLost, lostRevision } from './steps/lost-revision.ts';
import { runChain } from './steps/run-chain.ts';
import { end, wait, type End, type Outcome, type Step } from './steps/step.ts';
import { terminationTimestamp } from './termination/deadline.ts';

/** Who wrote last is read again; this bounds how fast that can turn. */
const soon = milliseconds(100);
/** Between passes that each tried all the candidates they may. */
const breath = seconds(1);
const longest = seconds(5);
const missing = seconds(30);
/** Candidates that one pass may try, so that a claim without luck leaves calls for the others: EC2 refills two a second. */
const triesInAPass = 8;

export interface Chains {
  readonly launch: readonly Step[];
  readonly upkeep: readonly Step[];
  readonly termination: readonly Step[];
}

/**
 * Leads each NodeClaim of ours through its life: the launch chain until its Node is initialised, then its upkeep, and
 * the termination chain once it is deleted. All that is known between two passes stands in the API and in the clouds.
 */
export class NodeClaimController implements Reconciler {
  readonly #context: Context;
  readonly #claims: Freshest<NodeClaim>;
  readonly #revisions: Revisions;
  readonly #writer: ClaimWriter;
  readonly #metrics: NodeClaimMetrics;
  readonly #lostNode: LostNode;
  readonly #chains: Chains;

  constructor(
    context: Context,
    parts: {
      claims: Freshest<NodeClaim>;
      revisions: Revisions;
      writer: ClaimWriter;
      metrics: NodeClaimMetrics;
      lostNode: LostNode;
      chains: Chains;
    },
  ) {
    this.#context = context;
    this.#claims = parts.claims;
    this.#revisions = parts.revisions;
    this.#writer = parts.writer;
    this.#metrics = parts.metrics;
    this.#lostNode = parts.lostNode;
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
      if (isConflict(error)) return { requeueAfter: pauseOf(hand) }; // somebody else wrote: look again
      throw error;
    }
  }

  async #launch(hand: ClaimInHand, signal: AbortSignal): Promise<Result> {
    if (await this.#lostNode.isLost(hand, signal)) return this.#follow(hand);
    if (hand.is('Initialized')) return this.#keep(hand, signal);
    await this.#hold(hand);
    const outcome = await this.#goOn(hand, signal);
    const result = await this.#conclude(hand, this.#judge(hand, outcome));
    passOn(outcome);
    return result;
  }

  async #conclude(hand: ClaimInHand, outcome: Outcome): Promise<Result> {
    if (outcome.kind === 'end') return this.#end(hand, outcome.end);
    this.#tell(hand, outcome);
    await this.#writeStatus(hand);
    if (outcome.kind === 'done') this.#metrics.initialized(hand);
    return this.#next(hand, outcome);
  }

  /** Nothing of it is told in conditions, so a machine that runs as it should costs no write. */
  async #keep(hand: ClaimInHand, signal: AbortSignal): Promise<Result> {
    const outcome = await runChain(this.#chains.upkeep, hand, signal);
    this.#tell(hand, outcome);
    passOn(outcome);
    return this.#next(hand, outcome);
  }

  async #goOn(hand: ClaimInHand, signal: AbortSignal): Promise<Outcome> {
    if (isRevisionLost(hand)) {
      return wait({ after: missing, ...lostRevision(hand), failed: true });
    }
    let outcome = await runChain(this.#chains.launch, hand, signal);
    for (let tries = 1; outcome.kind === 'again' && tries < triesInAPass; tries += 1) {
      // oxlint-disable-next-line no-await-in-loop -- one candidate after the other
      outcome = await runChain(this.#chains.launch, hand, signal);
    }
    return outcome;
  }

  /** Deadlines are behaviour, no part of a revision: the class as it reads today sets them. */
  #deadline(hand: ClaimInHand): ReturnType<typeof deadlineNow> {
    return deadlineNow(hand, this.#context.caches.nodeClasses.get(hand.identity.nodeClass)?.spec);
  }

  /** A claim that is not done by its deadline ends; what it waited for is the reason. */
  #judge(hand: ClaimInHand, outcome: Outcome): Outcome {
    const deadline = this.#deadline(hand);
    if (outcome.kind === 'done' || outcome.kind === 'end' || !deadline) return outcome;
    if (leftOf(deadline, this.#context.clock) > 0) return outcome;
    const why =
      outcome.kind === 'wait' ? outcome.message : 'one candidate after the other was refused';
    return end(endOf(deadline, why));
  }

  #tell({ claim }: ClaimInHand, outcome: Outcome, as?: string): void {
    if (outcome.kind !== 'wait' || outcome.failed !== true) return;
    const { reason, message } = outcome;
    this.#context.recorder.record({
      object: claim,
      type: 'Warning',
      reason: as ?? reason,
      message,
    });
  }

  /** What came true is told only once it is written: a pass whose write is refused is run again. */
  async #writeStatus(hand: ClaimInHand): Promise<void> {
    const before = hand.claim.status?.conditions;
    await this.#writer.status(hand);
    for (const note of progress(before, hand)) this.#context.recorder.record(note);
  }

  #next(hand: ClaimInHand, outcome: Outcome): Result {
    if (outcome.kind === 'again') return { requeueAfter: breath };
    if (outcome.kind !== 'wait') return {};
    const deadline = this.#deadline(hand);
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

  async #follow(hand: ClaimInHand): Promise<Result> {
    await this.#writer.delete(hand);
    return {};
  }

  async #terminate(hand: ClaimInHand, signal: AbortSignal): Promise<Result> {
    if (!isHeldBy(hand.claim)) return {};
    if (isRevisionLost(hand)) return this.#cannotFind(hand);
    await this.#stampDeadline(hand);
    const outcome = await runChain(this.#chains.termination, hand, signal);
    if (outcome.kind === 'done') return this.#release(hand);
    this.#tell(hand, outcome, 'FailedTermination');
    await this.#writeStatus(hand).catch(ignoreGone);
    passOn(outcome);
    const after = outcome.kind === 'wait' ? outcome.after : seconds(2);
    return after === undefined ? {} : { requeueAfter: after };
  }

  /** Without its revision nobody knows where the machine is: letting the claim go would leave it running. */
  #cannotFind(hand: ClaimInHand): Result {
    this.#context.recorder.record({ object: hand.claim, type: 'Warning', ...lostRevision(hand) });
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
    return nodeClass && { name, nodeClass };
  }
}

/** Conflicts end once the cache has seen the other's write; while its watch is down they would not for long. */
function pauseOf({ unmovedFor }: ClaimInHand): Duration {
  return Math.min(longest, Math.max(soon, unmovedFor / 20));
}

/** An error that no step foresaw goes to the work queue, once the pass is brought to its end. */
function passOn(outcome: Outcome): void {
  if (outcome.kind === 'wait' && outcome.thrown !== undefined) throw outcome.thrown;
}

function isHeldBy({ metadata }: Live<NodeClaim>): boolean {
  return (metadata.finalizers ?? []).includes(finalizers.termination);
}

function ignoreGone(error: unknown): void {
  if (!isNotFound(error)) throw error;
}
