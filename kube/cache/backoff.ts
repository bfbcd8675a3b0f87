import { milliseconds, seconds, type Duration } from '#schemas/time/clock.ts';

const first = milliseconds(500);
const longest = seconds(10);

/**
 * How long a reflector waits after so many failures in a row: doubling, each anywhere from half to one and a half of its
 * step, so that the watches that one outage ended do not come back as one. At 10 s a cluster of replicas is no load
 * on a server that starts, and caches are fresh again soon after it has.
 *
 * @param failures in a row, from 1 @param random in [0, 1)
 */
export function backoff(failures: number, random: number): Duration {
  return Math.min(longest, first * 2 ** Math.min(failures - 1, 10)) * (0.5 + random);
}
