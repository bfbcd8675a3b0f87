import { type Clock, milliseconds } from '#schemas/time/clock.ts';

import type { Wish } from './changes.ts';
import type { TextWish } from './texts.ts';

/** What is to be true of a zone. */
export interface Wanted {
  readonly wishes: readonly Wish[];
  /** All about one name. */
  readonly texts: readonly TextWish[];
}

/** Wishes of one machine, judged together and kept or refused together. */
export interface Order extends Wanted {
  readonly settle: (error: unknown) => void;
}

const collectFor = milliseconds(200);

/**
 * One zone's orders, carried out batch after batch, never two at once: Route 53 refuses a change while another one of
 * the zone is under way. Orders that arrive within 200 ms, or while a batch is under way, share the next one.
 */
export class ZoneQueue {
  readonly #clock: Clock;
  readonly #carryOut: (orders: readonly Order[]) => Promise<void>;
  #waiting: Order[] = [];
  #isBusy = false;

  /** @param carryOut  settles every order; what it throws settles those that it left */
  constructor(clock: Clock, carryOut: (orders: readonly Order[]) => Promise<void>) {
    this.#clock = clock;
    this.#carryOut = carryOut;
  }

  /** Resolves when all wishes are true; rejects with the failure of this order alone. */
  async add(wanted: Wanted): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({
      ...wanted,
      settle: (error) => (error === undefined ? resolve() : reject(error)),
    });
    this.#schedule();
    return promise;
  }

  #schedule(): void {
    if (this.#isBusy) return;
    this.#isBusy = true;
    this.#clock.after(collectFor, () => void this.#flush());
  }

  async #flush(): Promise<void> {
    const orders = this.#waiting;
    this.#waiting = [];
    try {
      await this.#carryOut(orders);
    } catch (error) {
      for (const { settle } of orders) settle(error);
    }
    this.#isBusy = false;
    if (this.#waiting.length > 0) this.#schedule();
  }
}
