import type { Place } from '../places/place.ts';
import type { Variant } from '../pods/variant.ts';
import type { Counter } from './counter.ts';
import { open, type Whereabouts } from './domains.ts';
import type { NodeLike } from './node-filter.ts';
import { startsGroup } from './rule.ts';

/** Counts a Pod that has found its place, for all rules that look at it. */
export function record(
  { index, where }: Place,
  { counted, keeps, spreads, affinities }: Variant,
): void {
  for (const rule of affinities) {
    if (!rule.isWish && startsGroup(rule)) rule.counter.isStarted = true;
  }
  for (const counter of counted) count(counter, where, index);
  for (const counter of keeps) count(counter, where, index);
  for (const { counter, maxSkew, minDomains, isWish } of spreads) {
    if (isWish) continue;
    const { domains } = counter;
    const domain = domains.isHost ? index : where.domainOf(domains);
    if (domain >= 0) counter.keepEven(domain, { maxSkew, minDomains });
  }
}

/** @param host  number of the place; undefined for a node that takes no new Pods */
export function count(
  counter: Counter,
  where: NodeLike & Whereabouts,
  host: number | undefined,
): void {
  const { domains } = counter;
  if (!counter.looksAt(where)) return;
  if (domains.isHost) {
    if (host === undefined) counter.addElsewhere();
    else counter.add(host);
    return;
  }
  const domain = where.domainOf(domains);
  if (domain >= 0) counter.add(domain);
  else if (domain === open) counter.addAnyOf(where.possible(domains));
}
