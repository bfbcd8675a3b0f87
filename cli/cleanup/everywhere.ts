import type { Clock } from '#schemas/time/clock.ts';

import type { Arguments } from './arguments.ts';
import type { Place, Places } from './place.ts';

/**
 * Where the arguments ask to look, in both clouds, in the order in which it is emptied. A cloud's modules are loaded when
 * something of it is asked for.
 */
export async function placesOf(
  args: Arguments,
  clock: Clock,
  maxAttempts?: number,
): Promise<Place[]> {
  const { regions, zones, projects, managedZones } = args;
  const asked: Promise<Places>[] = [];
  if (regions.length + zones.length > 0) {
    const loading = import('./aws/places.ts');
    asked.push(loading.then(({ placesInAws }) => placesInAws(args, clock, maxAttempts)));
  }
  if (projects.length + managedZones.length > 0) {
    const loading = import('./gcp/places.ts');
    asked.push(loading.then(({ placesInGcp }) => placesInGcp(args, clock)));
  }
  const places = await Promise.all(asked);
  return [
    ...places.flatMap(({ names }) => names),
    ...places.flatMap(({ instances }) => instances),
    ...places.flatMap(({ parts }) => parts),
  ];
}
