import type { EventRecorder } from '#kube/runtime/events.ts';

import { progress } from './events.ts';
import type { ClaimInHand } from './steps/claim-in-hand.ts';
import type { ClaimWriter } from './steps/claim-writer.ts';
import type { Outcome } from './steps/step.ts';

/** What a pass over a claim found, told where people look: in its conditions, and by an event when they may have to act. */
export class Telling {
  readonly #recorder: EventRecorder;
  readonly #writer: ClaimWriter;

  constructor(recorder: EventRecorder, writer: ClaimWriter) {
    this.#recorder = recorder;
    this.#writer = writer;
  }

  /** @param as  reason of the event, in place of the outcome's own */
  failure({ claim }: ClaimInHand, outcome: Outcome, as?: string): void {
    if (outcome.kind !== 'wait' || outcome.failed !== true) return;
    const { reason, message } = outcome;
    this.#recorder.record({ object: claim, type: 'Warning', reason: as ?? reason, message });
  }

  /** What came true is told only once it is written: a pass whose write is refused is run again. */
  async progress(hand: ClaimInHand): Promise<void> {
    const before = hand.claim.status?.conditions;
    await this.#writer.status(hand);
    for (const note of progress(before, hand)) this.#recorder.record(note);
  }
}

/** An error that no step foresaw goes to the work queue, once the pass is brought to its end. */
export function passOn(outcome: Outcome): void {
  if (outcome.kind === 'wait' && outcome.thrown !== undefined) throw outcome.thrown;
}
