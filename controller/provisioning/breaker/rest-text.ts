import { minuteText } from '../pauses.ts';
import type { RestByCause, Resting } from './launches.ts';

/**
 * As a sentence without its code, the same in each pass of one rest.
 *
 * @param whom  one of the Pods
 * @example 3 machines were made for Pods like shop/web-1 and none has one: Node web-0a1b2c3d has taint …, which they
 * do not tolerate; the next is tried at 2026-11-30 17:35 UTC
 */
export function restText(whom: string, rest: Resting | RestByCause): string {
  const { machines, why, until } = rest;
  const next = `${why}; the next is tried at ${minuteText(until)}`;
  if (!('causes' in rest)) {
    return `${machines} machines were made for Pods like ${whom} and none has one: ${next}`;
  }
  const { coming } = rest;
  const known = machines - coming;
  const useless = `${known} ${known === 1 ? 'machine is' : 'machines are'} of no use to Pods like ${whom}`;
  const more = coming > 0 ? `, and ${coming} on the way may be like that` : '';
  return `${useless}, whatever Pods ${known === 1 ? 'it was' : 'they were'} made for${more}: ${next}`;
}
