import type { ResourceList } from '#schemas/kubernetes/meta.ts';
import { Quantity } from '#schemas/quantity/quantity.ts';

import { usedBy, type Bound, type Entry } from './ledger.ts';

/** What a limit leaves of its resource. */
export interface Room {
  readonly bound: Bound;
  /** Canonical quantity; negative above a lowered limit. */
  readonly left: string;
}

/** What each limit leaves when these entries are held. */
export function roomIn(bounds: readonly Bound[], entries: readonly Entry[]): Room[] {
  const used = new Map<Bound['covers'], ResourceList>();
  return bounds.map((bound) => {
    const { amount, resource, covers } = bound;
    const use = used.get(covers) ?? usedBy(covers ? entries.filter(covers) : entries);
    used.set(covers, use); // limits of one policy cover the same machines
    const left = Quantity.parse(amount).sub(Quantity.parse(use[resource] ?? '0'));
    return { bound, left: left.toString() };
  });
}

/** For each resource the limit that leaves least, the first of several. */
export function least(rooms: readonly Room[]): Room[] {
  const found = new Map<string, Room>();
  for (const room of rooms) {
    const known = found.get(room.bound.resource);
    if (!known || compare(room, known) < 0) found.set(room.bound.resource, room);
  }
  return [...found.values()];
}

/** As the amounts that a solver reckons with. */
export function leftOf(rooms: readonly Room[]): ResourceList {
  return Object.fromEntries(rooms.map(({ bound, left }) => [bound.resource, left]));
}

function compare(a: Room, b: Room): number {
  return Quantity.parse(a.left).compareTo(Quantity.parse(b.left));
}
