import type { DnsProvider, OwnedName } from '#machine/dns/provider.ts';
import { NodeClassError } from '#machine/errors.ts';
import { faults } from '#machine/faults.ts';

import type { Found, Outcome, Place } from '../place.ts';

/** A zone that can be listed. */
export interface Zone {
  /** `Route53 Z123`, the same for every class that names machines in it. */
  readonly name: string;
  readonly id: string;
  readonly dns: DnsProvider & Required<Pick<DnsProvider, 'owned'>>;
  readonly clusterUid: string;
  /** One that names machines in it. */
  readonly nodeClass: string;
}

interface FoundName extends Found {
  readonly owned: OwnedName;
}

/**
 * Names in one zone whose TXT says that they are this cluster's. Record and TXT go in one change that names what was
 * read exactly, so that a name which was given to somebody else meanwhile stays.
 */
export class NamesThere implements Place<FoundName> {
  readonly kind = 'name';
  readonly name: string;
  readonly #zone: Zone;

  constructor(zone: Zone) {
    this.#zone = zone;
    this.name = `names of ${zone.name}`;
  }

  async list(signal: AbortSignal): Promise<readonly FoundName[]> {
    const { dns, id, clusterUid } = this.#zone;
    const all = await dns.owned(id, clusterUid, signal).catch(zoneIsGone);
    const { nodeClass } = this.#zone;
    return all.map((owned) => ({ ...foundOf(owned), nodeClass }));
  }

  async remove({ owned }: FoundName, signal: AbortSignal): Promise<Outcome> {
    const { dns, id } = this.#zone;
    await dns.remove(id, [owned.name], owned.owner, signal);
    return 'gone';
  }
}

function foundOf(owned: OwnedName): FoundName {
  const { name, owner, addresses } = owned;
  const about = addresses.join(', ') || 'its ownership alone';
  return { id: `${name} ${owner.claimUid}`, claimUid: owner.claimUid, about, owned };
}

/** With the whole zone its records are gone too. */
export function zoneIsGone(error: unknown): readonly never[] {
  const isGone = error instanceof NodeClassError && error.reason === faults.zoneNotFound.reason;
  if (!isGone) throw error;
  return [];
}
