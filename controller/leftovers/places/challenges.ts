import type { DnsProvider } from '#machine/dns/provider.ts';

import type { AcmeAccount, Placed } from '../../certificates/acme/account.ts';
import type { Found, Outcome, Place } from '../place.ts';
import { zoneIsGone } from './names.ts';

/** A zone that challenges were put into, and the account that they were for. */
export interface Challenged {
  readonly account: AcmeAccount;
  /** `Route53 Z123` */
  readonly zone: string;
  readonly zoneID: string;
  readonly dns: DnsProvider & Required<Pick<DnsProvider, 'removeText'>>;
  /** One that has its certificates by that account. */
  readonly nodeClass: string;
}

interface FoundChallenges extends Found {
  readonly placed: readonly Placed[];
}

/**
 * Challenges of ACME that may still stand in one zone. Nothing in a zone says whose a challenge is, and others may have
 * theirs at the same name; ours are known by what the account's Secret says of each, which is written before it stands.
 * So a zone that cannot be listed is tidied too.
 */
export class ChallengesThere implements Place<FoundChallenges> {
  readonly kind = 'name';
  readonly name: string;
  readonly #where: Challenged;

  constructor(where: Challenged) {
    this.#where = where;
    this.name = `challenges of ${where.account.name} in ${where.zone}`;
  }

  async list(): Promise<readonly FoundChallenges[]> {
    const { account, zoneID, nodeClass } = this.#where;
    return Object.entries(await account.challenges()).flatMap(([claimUid, all]) => {
      const placed = all.filter((one) => one.zoneID === zoneID);
      if (placed.length === 0) return [];
      const about = `challenge at ${[...new Set(placed.map(({ name }) => name))].join(', ')}`;
      return [{ id: claimUid, claimUid, about, nodeClass, placed }];
    });
  }

  /** What is taken down already, by hand or by one who died then, is no trouble. */
  async remove({ claimUid, placed }: FoundChallenges, signal: AbortSignal): Promise<Outcome> {
    const { account, dns } = this.#where;
    for (const { zoneID, name, text } of placed) {
      // oxlint-disable-next-line no-await-in-loop -- a name may have several
      await dns.removeText(zoneID, name, text, signal).catch(zoneIsGone);
    }
    await account.forgetChallenges(claimUid, placed);
    return 'gone';
  }
}
