import { labels } from '#schemas/names.ts';

import { priceOf } from './machines/size-index.ts';
import { fromSelector } from './requirements.ts';
import type { PlannedClaim } from './solver.ts';

/** USD per hour of the cheapest machine that a claim allows; undefined when nobody knows. */
export function priceOfClaim({ instanceTypes, requirements }: PlannedClaim): number | undefined {
  const zones = fromSelector(requirements).get(labels.zone);
  const prices = instanceTypes.map((type) => priceOf(type, zones) ?? Infinity);
  const least = Math.min(...prices);
  return Number.isFinite(least) ? least : undefined;
}
