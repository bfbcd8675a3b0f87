import type { Duration } from '#schemas/time/clock.ts';

import type { Resting } from './launches.ts';

/**
 * As a sentence without its code, the same in each pass of one rest.
 *
 * @param whom  one of the Pods
 * @example 3 machines were made for Pods like shop/web-1 and none has one: Node web-0a1b2c3d has taint …, which they
 * do not tolerate; the next is tried 10 minutes after the last
 */
export function restText(whom: string, { machines, why, pause }: Resting): string {
  const made = `${machines} machines were made for Pods like ${whom} and none has one`;
  return `${made}: ${why}; the next is tried ${pauseText(pause)} after the last`;
}

function pauseText(pause: Duration): string {
  const count = Math.round(pause / 60_000);
  return count < 120 ? `${count} minutes` : `${Math.round(count / 6) / 10} hours`;
}
