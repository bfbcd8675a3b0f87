import type { Amounts } from '../slots.ts';
import type { Domains } from '../topology/domains.ts';
import type { Place } from './place.ts';

/** So many places are passed over at once when none of them has room. */
export const blockSize = 16;

/** Places in the order in which they are asked; more come at the end, none ever leaves. */
export class Lane {
  readonly places: Place[] = [];
  /** For each block the most of each resource that one of its places had when it was last looked at. */
  readonly #tops: Amounts[] = [];

  add(place: Place): void {
    const block = Math.floor(this.places.length / blockSize);
    this.places.push(place);
    const top = this.#tops[block];
    if (top) raise(top, place.free);
    else this.#tops.push(place.free.slice());
  }

  /** False when no place of the block has room: places only get fuller, so none ever will. */
  mayHaveRoom(block: number, needs: Amounts): boolean {
    const top = this.#tops[block]!;
    for (let slot = 0; slot < needs.length; slot++) {
      if (needs[slot]! > 0 && needs[slot]! > top[slot]!) return false;
    }
    return true;
  }

  /** Looks at a block anew. */
  refresh(block: number): void {
    const top = this.#tops[block]!.fill(-Infinity);
    const end = Math.min(this.places.length, (block + 1) * blockSize);
    for (let at = block * blockSize; at < end; at++) raise(top, this.places[at]!.free);
  }
}

function raise(top: Amounts, free: Amounts): void {
  for (let slot = 0; slot < top.length; slot++) {
    if (free[slot]! > top[slot]!) top[slot] = free[slot]!;
  }
}

/** Places by domain of one key. */
class Road {
  readonly #lanes = new Map<number, Lane>();

  at(domain: number): Lane {
    const lane = this.#lanes.get(domain) ?? new Lane();
    this.#lanes.set(domain, lane);
    return lane;
  }
}

/** Places, and the same places by domain of each key that rules are about. */
export class Lanes {
  readonly all = new Lane();
  readonly #roads: ReadonlyMap<Domains, Road>;

  constructor(keys: readonly Domains[]) {
    this.#roads = new Map(keys.map((domains) => [domains, new Road()]));
  }

  along(domains: Domains): { at(domain: number): Lane } {
    return this.#roads.get(domains) ?? new Road();
  }

  add(place: Place): void {
    this.all.add(place);
    for (const [domains, road] of this.#roads) road.at(place.where.domainOf(domains)).add(place);
  }

  /** Once a place has been decided about: it is found in its new lanes too. */
  move(place: Place, before: Place['where']): void {
    if (place.where === before) return;
    for (const [domains, road] of this.#roads) {
      const domain = place.where.domainOf(domains);
      if (domain !== before.domainOf(domains)) road.at(domain).add(place);
    }
  }
}
