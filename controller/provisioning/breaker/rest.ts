import type { Duration, Instant } from '#schemas/time/clock.ts';

import { firstPause, longestPause } from '../pauses.ts';

/** Machines that may be made for the same Pods without any of them having one: the first, and two more tries. */
export const allowed = 3;

/** For Pods of one kind nothing is made in a pool until `until`; then one machine is, to see whether it helps now. */
export interface Rest {
  readonly machines: number;
  /** From the last of them to the next. */
  readonly pause: Duration;
  readonly until: Instant;
}

/**
 * How long to leave Pods alone that machines were made for in vain: 10 minutes, then twice as long after each further
 * try, and 4 hours at most. That is 3 machines at first, 5 within the first hour and 12 within a day.
 *
 * A burst (many Pods of one kind, a machine for each few) is one try, however many machines it was.
 *
 * @param useless  when each was made, ascending
 * @returns undefined while another one may be made at once
 */
export function restAfter(useless: readonly Instant[]): Rest | undefined {
  const turn = useless[allowed - 1];
  const last = useless.at(-1);
  if (turn === undefined || last === undefined) return undefined;
  const tries = useless.filter((at) => at > turn + firstPause / 2).length;
  const pause = Math.min(firstPause * 2 ** tries, longestPause);
  return { machines: useless.length, pause, until: last + pause };
}
