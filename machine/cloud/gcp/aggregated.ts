import { ListIncomplete } from '../../errors.ts';
import { lastOf } from './resources.ts';

/** One page of a list over all zones, whatever is in it. */
interface AggregatedPage<List> {
  readonly items?: Readonly<Record<string, List>>;
  readonly unreachables?: readonly string[];
}

/**
 * The lists of all zones, or an error: a zone without anything on a page says so by a warning, any other warning is a
 * zone that was not asked.
 *
 * @param what  for the message: `disks`
 * @param isWanted  whether a hole in this zone matters
 * @throws ListIncomplete
 */
export function wholeLists<List extends { readonly warning?: { readonly code?: string } }>(
  pages: readonly AggregatedPage<List>[],
  what: string,
  isWanted: (zone: string) => boolean,
): List[] {
  const scopes = pages.flatMap(({ items = {} }) => Object.entries(items));
  const warned = scopes
    .filter(([, { warning }]) => warning && warning.code !== 'NO_RESULTS_ON_PAGE')
    .map(([scope]) => scope);
  const unreachable = pages.flatMap(({ unreachables = [] }) => unreachables);
  const holes = [...warned, ...unreachable].map(lastOf).filter(isWanted);
  if (holes.length === 0) return scopes.map(([, list]) => list);
  const zones = [...new Set(holes)].join(', ');
  throw new ListIncomplete(
    `Google Cloud did not list the ${what} of ${zones}: nothing is concluded from what it did list`,
  );
}
