import { randomUUID } from 'node:crypto';

import {
  longestLife,
  mintToken,
  readToken,
  type OneTimeToken,
} from '#machine/bootstrap/one-time-token.ts';
import { keyIdOf } from '#machine/bootstrap/unproven.ts';
import type { Clock } from '#schemas/time/clock.ts';

import type { Ticket, TicketOffice } from '../bootstrap-mode.ts';
import type { BootstrapKeys } from './keys.ts';

/** Mints the tokens of machines that call, and knows them again, in whichever replica. */
export class Tickets implements TicketOffice {
  readonly #keys: BootstrapKeys;
  readonly #clusterUid: string;
  readonly #clock: Clock;

  constructor(keys: BootstrapKeys, clusterUid: string, clock: Clock) {
    this.#keys = keys;
    this.#clusterUid = clusterUid;
    this.#clock = clock;
  }

  async mint(claimUid: string, url: string): Promise<Ticket> {
    const { authority, keys } = await this.#keys.current();
    const from = Math.floor(Date.parse(this.#clock.stamp()) / 1000);
    const until = from + longestLife;
    const said = { clusterUid: this.#clusterUid, claimUid, url, id: randomUUID() };
    const token = await mintToken(said, { from, until }, keys[0]);
    return { token, ca: authority.pem.certificate };
  }

  /** @throws BootstrapRefused @throws ApiError when keys cannot be read */
  async read(token: string): Promise<OneTimeToken> {
    const keys = await this.#keys.keysFor(keyIdOf(token));
    return readToken(token, keys, { clusterUid: this.#clusterUid, at: this.#clock.stamp() });
  }
}
