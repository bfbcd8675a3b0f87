/** How long Pods are left alone that machines, or passes, were tried for in vain. */
import { hours, minutes, type Duration, type Instant } from '#schemas/time/clock.ts';

/** After that each pause is twice as long as the one before. */
export const firstPause: Duration = minutes(10);
export const longestPause: Duration = hours(4);

/** `2026-11-30 17:35 UTC`, not before the instant. */
export function minuteText(instant: Instant): string {
  const up = Math.ceil(instant / minutes(1)) * minutes(1);
  return `${new Date(up).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
