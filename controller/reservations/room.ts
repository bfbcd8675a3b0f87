import type { ResourceList } from '#schemas/kubernetes/meta.ts';
import { Quantity } from '#schemas/quantity/quantity.ts';

import { amountOf, usedBy, type Bound, type Entry } from './ledger.ts';

/** What a limit leaves of its resource. */
export interface Room {
  readonly bound: Bound;
  /**
   * Canonical quantity: the limit less what is held or promised; negative only where more is held, since what is promised
   * beyond the limit will find no room.
   */
  readonly left: string;
}

/** What each limit leaves of its resource. */
export function roomIn(
  bounds: readonly Bound[],
  held: readonly Entry[],
  promised: readonly Entry[],
): Room[] {
  const sums = new Map<Bound['covers'], { held: ResourceList; promised: ResourceList }>();
  return bounds.map((bound) => {
    const { amount, resource, covers } = bound;
    const under = (entries: readonly Entry[]): ResourceList =>
      usedBy(covers ? entries.filter(covers) : entries);
    const sum = sums.get(covers) ?? { held: under(held), promised: under(promised) };
    sums.set(covers, sum); // limits of one policy cover the same machines
    const use = amountOf(sum.held, resource);
    const soon = amountOf(sum.promised, resource);
    return { bound, left: leftAfter(amount, use, soon).toString() };
  });
}

/** What is left of a limit when some is held and more is to come, which takes no more than there is. */
export function leftAfter(limit: string, held: Quantity, coming: Quantity): Quantity {
  const free = Quantity.parse(limit).sub(held);
  const left = free.sub(coming);
  if (left.compareTo(Quantity.zero) >= 0) return left;
  return free.compareTo(Quantity.zero) < 0 ? free : Quantity.zero;
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
