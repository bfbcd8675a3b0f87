import type { Clock } from '#schemas/time/clock.ts';

import type { AddressRecord, DnsProvider, RecordOwner } from './provider.ts';
import { type ZoneApi, ZoneWriter } from './zone-writer.ts';

/** Names of machines at one service that holds zones. Orders of many machines to one zone share its calls. */
export abstract class ZonedDns implements DnsProvider {
  readonly #clock: Clock;
  readonly #writers = new Map<string, ZoneWriter>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  abstract resolveZone(
    zone: string,
    zoneID: string | undefined,
    signal: AbortSignal,
  ): Promise<string>;

  /** A zone by the id that {@link resolveZone} gave; asked once for each. */
  protected abstract zone(zoneID: string): ZoneApi;

  async upsert(
    zoneID: string,
    records: readonly AddressRecord[],
    owner: RecordOwner,
    signal: AbortSignal,
  ): Promise<void> {
    return this.#writer(zoneID).upsert(records, owner, signal);
  }

  async remove(
    zoneID: string,
    names: readonly string[],
    owner: RecordOwner,
    signal: AbortSignal,
  ): Promise<void> {
    return this.#writer(zoneID).remove(names, owner, signal);
  }

  async addText(zoneID: string, name: string, text: string, signal: AbortSignal): Promise<void> {
    return this.#writer(zoneID).setText(name, text, true, signal);
  }

  async removeText(zoneID: string, name: string, text: string, signal: AbortSignal): Promise<void> {
    return this.#writer(zoneID).setText(name, text, false, signal);
  }

  #writer(zoneID: string): ZoneWriter {
    const known = this.#writers.get(zoneID);
    if (known) return known;
    const writer = new ZoneWriter(this.#clock, this.zone(zoneID));
    this.#writers.set(zoneID, writer);
    return writer;
  }
}
