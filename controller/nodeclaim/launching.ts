import type { Result } from '#kube/runtime/reconciler.ts';
import { milliseconds, seconds } from '#schemas/time/clock.ts';

import type { Context } from '../context.ts';
import { deadlineNow, endOf, leftOf } from './launch/liveness.ts';
import type { LostNode } from './lost-node.ts';
import type { NodeClaimMetrics } from './metrics.ts';
import type { ClaimInHand } from './steps/claim-in-hand.ts';
import type { ClaimWriter } from './steps/claim-writer.ts';
import { hold } from './steps/hold.ts';
import { isRevisionLost, lostRevision, missing } from './steps/lost-revision.ts';
import { runChain } from './steps/run-chain.ts';
import { end, wait, type End, type Outcome, type Step } from './steps/step.ts';
import { passOn, type Telling } from './telling.ts';

/** A step that asks to be looked at sooner is not: this bounds how fast a pass can follow a pass. */
const soon = milliseconds(100);
/** Between passes that each tried all the candidates they may. */
const breath = seconds(1);
/** Candidates that one pass may try, so that a claim without luck leaves calls for the others: EC2 refills two a second. */
const triesInAPass = 8;

/** One pass over a claim that is wanted: the launch chain until its Node is initialised, then its upkeep. */
export class Launching {
  readonly #context: Context;
  readonly #writer: ClaimWriter;
  readonly #telling: Telling;
  readonly #metrics: NodeClaimMetrics;
  readonly #lostNode: LostNode;
  readonly #chains: { readonly launch: readonly Step[]; readonly upkeep: readonly Step[] };

  constructor(
    context: Context,
    parts: {
      writer: ClaimWriter;
      telling: Telling;
      metrics: NodeClaimMetrics;
      lostNode: LostNode;
      chains: { readonly launch: readonly Step[]; readonly upkeep: readonly Step[] };
    },
  ) {
    this.#context = context;
    this.#writer = parts.writer;
    this.#telling = parts.telling;
    this.#metrics = parts.metrics;
    this.#lostNode = parts.lostNode;
    this.#chains = parts.chains;
  }

  async pass(hand: ClaimInHand, signal: AbortSignal): Promise<Result> {
    if (await this.#lostNode.isLost(hand, signal)) return this.#follow(hand);
    if (hand.is('Initialized')) return this.#keep(hand, signal);
    await hold(hand, this.#writer);
    const outcome = await this.#goOn(hand, signal);
    const result = await this.#conclude(hand, this.#judge(hand, outcome));
    passOn(outcome);
    return result;
  }

  async #conclude(hand: ClaimInHand, outcome: Outcome): Promise<Result> {
    if (outcome.kind === 'end') return this.#end(hand, outcome.end);
    this.#telling.failure(hand, outcome);
    await this.#telling.progress(hand);
    if (outcome.kind === 'done') this.#metrics.initialized(hand);
    return this.#next(hand, outcome);
  }

  /** Nothing of it is told in conditions, so a machine that runs as it should costs no write. */
  async #keep(hand: ClaimInHand, signal: AbortSignal): Promise<Result> {
    const outcome = await runChain(this.#chains.upkeep, hand, signal);
    this.#telling.failure(hand, outcome);
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

  /** A claim goes where its Node went. */
  async #follow(hand: ClaimInHand): Promise<Result> {
    await this.#writer.delete(hand);
    return {};
  }
}
