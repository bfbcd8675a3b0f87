import { isConflict } from '#kube/client/errors.ts';
import { MachineError } from '#machine/errors.ts';
import { minutes, seconds, type Duration } from '#schemas/time/clock.ts';

import { asReason, coded } from '../../reason.ts';
import type { ClaimInHand } from './claim-in-hand.ts';
import { again, wait, type Outcome, type Step } from './step.ts';
import { unforeseen } from './unforeseen.ts';

const shortest = seconds(2);
const longest = minutes(1);

/**
 * Runs the steps in order until one is not done, and says so in its condition. A step whose condition is True was
 * done before: it is passed over, or, if it is to be looked at always, keeps its condition.
 *
 * @returns the outcome of the first step that is not done, or `done`
 * @throws ApiError for a conflict: what the pass knows is old, so nothing of it counts
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
    const outcome = await step.run(hand, signal).catch((error: unknown) => {
      if (isConflict(error) || signal.aborted) throw error;
      return outcomeOf(error, hand);
    });
    if (!wasDone) tell(hand, step, outcome);
    if (outcome.kind !== 'done') return outcome;
  }
  return { kind: 'done' };
}

function tell(hand: ClaimInHand, { condition, waitsIn }: Step, outcome: Outcome): void {
  if (outcome.kind === 'done' && condition !== undefined) {
    hand.set({ type: condition, status: 'True' });
  }
  const type = condition ?? waitsIn;
  if (outcome.kind === 'wait' && type !== undefined) {
    const { status = 'Unknown', reason, message } = outcome;
    hand.set({ type, status, reason, message });
  }
}

/**
 * What a failure means for the chain. Programming errors and refusals of the API server are told like those of the
 * outside world, so that no deadline waits for them and nothing that the pass found out is lost; then they go on to
 * the work queue, which logs them and backs off.
 *
 * A node class that turns out wrong here passed its own checks, so a claim that ended at once would be made again at
 * once: it waits for its deadline, and a machine that exists is not lost to a registry that is away for a minute.
 */
function outcomeOf(error: unknown, hand: ClaimInHand): Outcome {
  if (!(error instanceof MachineError)) {
    return wait({ ...unforeseen(error), failed: true, thrown: error });
  }
  const { code, next } = error;
  const why = {
    reason: asReason(error.reason),
    message: coded(error.message, code),
    failed: true,
  };
  switch (next) {
    case 'wait':
      return wait({ after: pauseOf(hand), reason: why.reason, message: why.message });
    case 'same-again':
    case 'retry':
      return wait({ after: pauseOf(hand), ...why });
    case 'slow':
    case 'node-class':
      return wait({ after: longest, ...why });
    case 'next-attempt':
    case 'try-another':
      return again();
  }
}

/** A quarter of the time that nothing has moved: 2 s at first, a minute once it has lasted four. */
function pauseOf({ unmovedFor }: ClaimInHand): Duration {
  return Math.min(longest, Math.max(shortest, unmovedFor / 4));
}
