import type { Domains } from '../topology/domains.ts';
import type { Place } from './place.ts';

/** Places in the order in which they are asked; more come at the end, none ever leaves. */
export interface Lane {
  readonly places: readonly Place[];
}

class GrowingLane implements Lane {
  readonly places: Place[] = [];
}

/** Places by domain of one key. */
class Road {
  readonly #lanes = new Map<number, GrowingLane>();

  at(domain: number): GrowingLane {
    const lane = this.#lanes.get(domain) ?? new GrowingLane();
    this.#lanes.set(domain, lane);
    return lane;
  }
}

/** Places, and the same places by domain of each key that rules are about. */
export class Lanes {
  readonly #all = new GrowingLane();
  readonly #roads: ReadonlyMap<Domains, Road>;

  constructor(keys: readonly Domains[]) {
    this.#roads = new Map(keys.map((domains) => [domains, new Road()]));
  }

  get all(): Lane {
    return this.#all;
  }

  along(domains: Domains): { at(domain: number): Lane } {
    return this.#roads.get(domains) ?? new Road();
  }

  add(place: Place): void {
    this.#all.places.push(place);
    for (const [domains, road] of this.#roads)
      road.at(place.where.domainOf(domains)).places.push(place);
  }

  /** Once a place has been decided about: it is found in its new lanes too. */
  move(place: Place, before: Place['where']): void {
    if (place.where === before) return;
    for (const [domains, road] of this.#roads) {
      const domain = place.where.domainOf(domains);
      if (domain !== before.domainOf(domains)) road.at(domain).places.push(place);
    }
  }
}
