import type { Instant } from './clock.ts';

let last: { readonly at: Instant; readonly text: string } = { at: Number.NaN, text: '' };

/**
 * An instant as RFC 3339 with milliseconds, such as `2026-11-30T09:12:53.481Z`. Whoever writes many lines writes several
 * in the same millisecond, and a date costs as much to write out as the rest of a line.
 *
 * @throws {RangeError} for an instant that no date has, such as NaN
 */
export function isoText(at: Instant): string {
  if (last.at !== at) last = { at, text: new Date(at).toISOString() };
  return last.text;
}
