import { type Clock, type Duration, seconds } from '#schemas/time/clock.ts';

const pause = seconds(5);

/**
 * Looks every five seconds until nothing is under way any more.
 *
 * @returns what still is when `within` is over
 */
export async function settled<T>(
  look: () => Promise<readonly T[]>,
  { clock, within }: { clock: Clock; within: Duration },
  signal: AbortSignal,
): Promise<readonly T[]> {
  const end = clock.now() + within;
  let underWay = await look();
  while (underWay.length > 0 && clock.now() < end) {
    // oxlint-disable-next-line no-await-in-loop -- it waits for the world
    await clock.sleep(pause, signal);
    // oxlint-disable-next-line no-await-in-loop -- it looks again
    underWay = await look();
  }
  return underWay;
}
