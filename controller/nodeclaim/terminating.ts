import type { Result } from '#kube/runtime/reconciler.ts';
import { annotations } from '#schemas/names.ts';
import { seconds } from '#schemas/time/clock.ts';

import type { Context } from '../context.ts';
import type { NodeClaimMetrics } from './metrics.ts';
import type { ClaimInHand } from './steps/claim-in-hand.ts';
import type { ClaimWriter } from './steps/claim-writer.ts';
import { ignoreGone, isHeld, letGo } from './steps/hold.ts';
import { isRevisionLost, lostRevision, missing } from './steps/lost-revision.ts';
import { runChain } from './steps/run-chain.ts';
import type { Step } from './steps/step.ts';
import { passOn, type Telling } from './telling.ts';
import { terminationTimestamp } from './termination/deadline.ts';

/** One pass over a claim that is deleted: the termination chain, and once that is done the claim is let go. */
export class Terminating {
  readonly #recorder: Context['recorder'];
  readonly #writer: ClaimWriter;
  readonly #telling: Telling;
  readonly #metrics: NodeClaimMetrics;
  readonly #chain: readonly Step[];

  constructor(
    { recorder }: Pick<Context, 'recorder'>,
    parts: {
      writer: ClaimWriter;
      telling: Telling;
      metrics: NodeClaimMetrics;
      chain: readonly Step[];
    },
  ) {
    this.#recorder = recorder;
    this.#writer = parts.writer;
    this.#telling = parts.telling;
    this.#metrics = parts.metrics;
    this.#chain = parts.chain;
  }

  async pass(hand: ClaimInHand, signal: AbortSignal): Promise<Result> {
    if (!isHeld(hand.claim)) return {};
    if (isRevisionLost(hand)) return this.#cannotFind(hand);
    await this.#stampDeadline(hand);
    const outcome = await runChain(this.#chain, hand, signal);
    if (outcome.kind === 'done') return this.#release(hand);
    this.#telling.failure(hand, outcome, 'FailedTermination');
    await this.#telling.progress(hand).catch(ignoreGone);
    passOn(outcome);
    const after = outcome.kind === 'wait' ? outcome.after : seconds(2);
    return after === undefined ? {} : { requeueAfter: after };
  }

  /** Without its revision nobody knows where the machine is: letting the claim go would leave it running. */
  #cannotFind(hand: ClaimInHand): Result {
    this.#recorder.record({ object: hand.claim, type: 'Warning', ...lostRevision(hand) });
    return { requeueAfter: missing };
  }

  async #stampDeadline(hand: ClaimInHand): Promise<void> {
    const at = terminationTimestamp(hand.claim);
    const { annotations: present = {} } = hand.claim.metadata;
    if (at === undefined || present[annotations.terminationTimestamp] !== undefined) return;
    await this.#writer.stamp(hand, { annotations: { [annotations.terminationTimestamp]: at } });
  }

  async #release(hand: ClaimInHand): Promise<Result> {
    await letGo(hand, this.#writer);
    this.#metrics.terminated(hand);
    return {};
  }
}
