import { MachineError } from '#machine/errors.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';

import type { ClaimInHand } from './claim-in-hand.ts';
import { end, wait, type Outcome, type Step } from './step.ts';

/**
 * Runs the steps in order until one is not done, and says so in its condition. A step whose condition is True was
 * done before: it is passed over, or, if it is to be looked at always, keeps its condition.
 *
 * @returns the outcome of the first step that is not done, or `done`
 */
export async function runChain(
  steps: readonly Step[],
  hand: ClaimInHand,
  signal: AbortSignal,
): Promise<Outcome> {
  for (const step of steps) {
    const wasDone = step.condition !== undefined && hand.is(step.condition);
    if (wasDone && !step.always) continue;
    // oxlint-disable-next-line no-await-in-loop -- each step builds on the one before
    const outcome = await step.run(hand, signal).catch(outcomeOf);
    if (!wasDone) tell(hand, step, outcome);
    if (outcome.kind !== 'done') return outcome;
  }
  return { kind: 'done' };
}

function tell(hand: ClaimInHand, { condition }: Step, outcome: Outcome): void {
  if (condition === undefined) return;
  if (outcome.kind === 'done') hand.set({ type: condition, status: 'True' });
  if (outcome.kind === 'wait') {
    const { status = 'Unknown', reason, message } = outcome;
    hand.set({ type: condition, status, reason, message });
  }
}

/**
 * What a failure of the outside world means for the chain. Programming errors and refusals of the API server go
 * on to the work queue, which logs them and backs off.
 */
function outcomeOf(error: unknown): Outcome {
  if (!(error instanceof MachineError)) throw error;
  const { reason, code, next } = error;
  const message = `${error.message} (${code})`;
  switch (next) {
    case 'same-again':
    case 'retry':
      return wait({ after: seconds(2), reason, message });
    case 'slow':
      return wait({ after: minutes(1), reason, message });
    case 'next-attempt':
    case 'try-another':
      return { kind: 'again' };
    case 'node-class':
      return end({ metric: 'nodeclass_not_ready', reason: 'NodeClassNotReady', message });
  }
}
