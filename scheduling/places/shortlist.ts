import type { Size } from '../machines/size.ts';
import { valuesNow } from '../machines/suiting.ts';
import type { OpenClaim } from './open-claim.ts';

/** As many as a NodeClaim may list and stay readable. */
const mostTypes = 60;

/**
 * The cheapest sizes of a claim. Where `minValues` asks for more different values than the cheapest ones have, dearer
 * sizes that bring a new value come before cheaper ones that bring none.
 */
export function shortlist(claim: OpenClaim): readonly Size[] {
  const { where, minValues } = claim;
  const cheapest = claim.sizes(mostTypes);
  if (minValues.missed(where.requirements, () => cheapest).size === 0) return cheapest;
  const all = claim.sizes();
  const wanted = [...where.requirements]
    .filter(([, set]) => set.minValues !== undefined)
    .flatMap(([key]) => bringing(all, key));
  const chosen = new Set([...new Set([...wanted, ...all])].slice(0, mostTypes));
  return all.filter((size) => chosen.has(size));
}

/** The cheapest size of each value. */
function bringing(sizes: readonly Size[], key: string): Size[] {
  const seen = new Set<string>();
  return sizes.filter(({ type }) => {
    const fresh = valuesNow(type, key).filter((value) => !seen.has(value));
    for (const value of fresh) seen.add(value);
    return fresh.length > 0;
  });
}
