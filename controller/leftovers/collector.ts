import type { Instant } from '#schemas/time/clock.ts';

import type { Context } from '../context.ts';
import { Claimed } from './claimed.ts';
import { type Found, kinds, type Kind, type Place } from './place.ts';
import type { Telling } from './telling.ts';
import { Watchlist } from './watchlist.ts';

/** One place as it was looked at in this round. */
interface Look {
  readonly place: Place;
  readonly found: readonly Found[];
}

/** What is remembered of a place between rounds. */
interface Memory {
  readonly kind: Kind;
  readonly watchlist: Watchlist;
  /** Claims that are no more, of which something was left when it was last looked at. */
  held: ReadonlySet<string>;
}

/** One round: what the claims account for, and kinds of which some place could not be looked at. */
interface Round {
  readonly begun: Instant;
  readonly claimed: Claimed;
  readonly unseen: ReadonlySet<Kind>;
}

/**
 * Cloud → cluster collection: what was made for a claim that is no more goes, wherever it is. Claims take all of it
 * along themselves; this is for those that somebody took the finalizer off, for what was torn off its instance, and for
 * whatever else nobody thought of.
 *
 * Lists come first and claims after them, read from the API server itself: whatever is in a list was made for a claim
 * that was there by then, so that a claim which is not there now has ended, and its UID never comes again. Where a place
 * cannot be listed in whole nothing is concluded of it; where claims cannot be listed, of nothing.
 */
export class LeftoverCollector {
  readonly #context: Pick<Context, 'client' | 'clock'>;
  readonly #places: () => Promise<readonly Place[]>;
  readonly #telling: Telling;
  readonly #memories = new Map<string, Memory>();

  /** @param places  asked in each round: node classes come and go */
  constructor(
    context: Pick<Context, 'client' | 'clock'>,
    places: () => Promise<readonly Place[]>,
    telling: Telling,
  ) {
    this.#context = context;
    this.#places = places;
    this.#telling = telling;
  }

  /** @throws ApiError, ConnectionError when the claims cannot be read; then nothing was removed */
  async collect(signal: AbortSignal): Promise<void> {
    const begun = this.#context.clock.now();
    const places = await this.#places();
    this.#remember(places);
    const looks = await this.#look(places, signal);
    const claimed = await Claimed.now(this.#context.client, signal);
    const seen = new Set(looks.map(({ place }) => place));
    const unseen = new Set(places.filter((place) => !seen.has(place)).map(({ kind }) => kind));
    for (const look of looks.toSorted((a, b) => orderOf(a.place) - orderOf(b.place))) {
      // oxlint-disable-next-line no-await-in-loop -- one kind after the other, see `kinds`
      await this.#judge(look, { begun, claimed, unseen }, signal);
    }
    this.#telling.waiting([...this.#memories.values()]);
  }

  /** All places at once; those that cannot be listed are told of and left out. */
  async #look(places: readonly Place[], signal: AbortSignal): Promise<Look[]> {
    const looks = await Promise.all(
      places.map(async (place) => {
        try {
          return [{ place, found: await place.list(signal) }];
        } catch (error) {
          signal.throwIfAborted();
          this.#telling.unlisted(place, error);
          return [];
        }
      }),
    );
    return looks.flat();
  }

  async #judge({ place, found }: Look, round: Round, signal: AbortSignal): Promise<void> {
    const memory = this.#of(place);
    const unclaimed = found.filter((one) => !round.claimed.has(one));
    const free = unclaimed.filter(({ isBusy }) => !isBusy).map(({ id }) => id);
    const due = memory.watchlist.looked(free, round.begun);
    const isProven = place.needs === undefined || !round.unseen.has(place.needs);
    const held = new Set<string>();
    for (const one of unclaimed) {
      const isNext = isProven && due.has(one.id) && !this.#isHeld(one, place);
      // oxlint-disable-next-line no-await-in-loop -- clouds count calls, and nobody waits for it
      const isGone = isNext && (await this.#remove(place, one, signal));
      if (!isGone) held.add(one.claimUid);
    }
    memory.held = held;
  }

  /** @returns whether it is gone for sure */
  async #remove(place: Place, found: Found, signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted(); // somebody else may lead by now
    try {
      const outcome = await place.remove(found, signal);
      this.#telling.removed(place, found);
      return outcome === 'gone';
    } catch (error) {
      signal.throwIfAborted();
      this.#telling.refused(place, found, error);
      return false;
    }
  }

  /** Whether something of the same claim has to go first. */
  #isHeld({ claimUid }: Found, place: Place): boolean {
    return [...this.#memories.values()].some(
      (memory) => orderOf(memory) < orderOf(place) && memory.held.has(claimUid),
    );
  }

  #of({ name }: Place): Memory {
    const memory = this.#memories.get(name);
    if (!memory) throw new Error(`${name} is no place of this round`);
    return memory;
  }

  #remember(places: readonly Place[]): void {
    const names = new Set(places.map(({ name }) => name));
    for (const name of this.#memories.keys()) if (!names.has(name)) this.#memories.delete(name);
    for (const { name, kind } of places) {
      if (this.#memories.has(name)) continue;
      this.#memories.set(name, { kind, watchlist: new Watchlist(), held: new Set() });
    }
  }
}

function orderOf({ kind }: { readonly kind: Kind }): number {
  return kinds.indexOf(kind);
}
