import type { DnsProvider } from '#machine/dns/provider.ts';

import type { Failure, Leftover, Place } from './place.ts';

export interface ZoneToClean {
  readonly dns: DnsProvider & Required<Pick<DnsProvider, 'owned'>>;
  readonly zone: string;
  /** Where several zones have that name. */
  readonly zoneID: string | undefined;
  readonly clusterUid: string;
}

/**
 * Names of machines in one zone of Route 53 or Cloud DNS. Each has its owner in a TXT beside it: the two go in one change that
 * names what was read exactly, so a name that was given to somebody else meanwhile stays.
 */
export class NamesInZone implements Place {
  readonly name: string;
  readonly #parts: ZoneToClean;

  constructor(parts: ZoneToClean) {
    this.#parts = parts;
    this.name = `names in ${parts.zone}`;
  }

  async list(signal: AbortSignal): Promise<Leftover[]> {
    const owned = await this.#owned(signal);
    return owned.names.map(({ name, addresses, owner }) => ({
      kind: 'name',
      id: name,
      facts: { address: addresses.join(','), 'claim uid': owner.claimUid },
    }));
  }

  async remove(shown: readonly Leftover[], signal: AbortSignal): Promise<Failure[]> {
    const { dns } = this.#parts;
    const { zoneID, names } = await this.#owned(signal);
    const ids = new Set(shown.map(({ id }) => id));
    const wanted = names.filter(({ name }) => ids.has(name));
    const outcomes = await Promise.allSettled(
      wanted.map(async ({ name, owner }) => dns.remove(zoneID, [name], owner, signal)),
    );
    return outcomes.flatMap((outcome, index) => {
      if (outcome.status === 'fulfilled') return [];
      return [{ id: wanted[index]?.name ?? '', why: (outcome.reason as Error).message }];
    });
  }

  /** The right to write is proven on the way, so that a zone that may only be read stops all before anything is removed. */
  async #owned(signal: AbortSignal) {
    const { dns, zone, zoneID, clusterUid } = this.#parts;
    const id = await dns.resolveZone(zone, zoneID, signal);
    return { zoneID: id, names: await dns.owned(id, clusterUid, signal) };
  }
}
