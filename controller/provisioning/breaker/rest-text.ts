import { minuteText } from '../pauses.ts';
import type { Resting } from './launches.ts';

/**
 * As a sentence without its code, the same in each pass of one rest.
 *
 * @param whom  one of the Pods
 * @example 3 machines were made for Pods like shop/web-1 and none has one: Node web-0a1b2c3d has taint …, which they
 * do not tolerate; the next is tried at 2026-11-30 17:35 UTC
 */
export function restText(whom: string, { machines, why, until }: Resting): string {
  const made = `${machines} machines were made for Pods like ${whom} and none has one`;
  return `${made}: ${why}; the next is tried at ${minuteText(until)}`;
}
