import { hours, type Clock, type Instant } from '#schemas/time/clock.ts';

/** Let's Encrypt counts the last seven days. */
const period = hours(24 * 7);

/**
 * The certificates of a zone that were asked for within the last week, the oldest first.
 *
 * Source: letsencrypt.org/docs/rate-limits: 50 certificates for a registered domain in 7 days. The domain may be shared with
 * others whom we know nothing of, and then the authority says so first.
 */
export function countedIn(issued: readonly string[], clock: Pick<Clock, 'now' | 'from'>): string[] {
  return issued.filter((stamp) => clock.now() - clock.from(stamp) < period).toSorted();
}

/** When there is room for one more; now or earlier when there is. */
export function roomAt(
  issued: readonly string[],
  most: number,
  clock: Pick<Clock, 'now' | 'from'>,
): Instant {
  const counted = countedIn(issued, clock);
  const first = counted[counted.length - most];
  return first === undefined ? clock.now() : clock.from(first) + period;
}
