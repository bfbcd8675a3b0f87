import { type Duration, seconds } from '#schemas/time/clock.ts';

/** How long to wait after a failure: doubling from `first` up to `longest`. */
export interface BackOff {
  readonly first: Duration;
  readonly longest: Duration;
}

/** Soon enough for a conflict, slow enough for a cloud that is down. */
export const defaultBackOff: BackOff = { first: seconds(1), longest: seconds(60) };

/**
 * The wait after the `failures`-th failure in a row, counted from 1: `first`, twice that, and so on, less up to half of
 * it by chance, so that what failed together does not come back together.
 *
 * @param random a number from 0 up to 1
 */
export function waitAfter(failures: number, backOff: BackOff, random: number): Duration {
  // 2^30 times any sensible first wait is beyond any longest one, and still a safe integer.
  const full = Math.min(backOff.longest, backOff.first * 2 ** Math.min(failures - 1, 30));
  return full * (1 - random / 2);
}
