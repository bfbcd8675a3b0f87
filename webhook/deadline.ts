import { seconds, type Duration } from '#schemas/time/clock.ts';
import { parseDuration } from '#schemas/time/duration.ts';

/** What the API server waits when a configuration does not say. */
const usual = seconds(10);
/** The longest that a configuration may say. */
const longest = seconds(30);

/** What the API server sends, in a form that needs no parser: always the same few texts. */
const plain = /^timeout=(\d{1,2})s$/;

/**
 * How long a call may take, from the `?timeout=2s` that the API server adds, less a tenth for the way: an answer after
 * that finds nobody. What cannot be read counts as the usual time.
 *
 * @param query without the question mark
 */
export function timeToAnswer(query: string): Duration {
  return 0.9 * Math.min(asked(query), longest);
}

function asked(query: string): Duration {
  const [, whole] = plain.exec(query) ?? [];
  if (whole !== undefined && whole !== '0') return seconds(Number(whole));
  const text = new URLSearchParams(query).get('timeout');
  if (text === null) return usual;
  try {
    const duration = parseDuration(text);
    return duration > 0 ? duration : usual;
  } catch {
    return usual;
  }
}
