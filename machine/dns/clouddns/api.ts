import type { Clock } from '#schemas/time/clock.ts';

import { GoogleRest, methodsOf, type Token } from '../../gcp/rest.ts';

const zone = 'projects/{project}/managedZones';

const method = methodsOf('dns');

/**
 * Every method that is called, and the permissions that its calls need.
 *
 * Source: Cloud DNS API reference v1 and "Access control with IAM", permissions of each method.
 */
export const dnsMethods = {
  zones: method('managedZones.list', 'GET', zone, ['dns.managedZones.list']),
  zone: method('managedZones.get', 'GET', `${zone}/{zone}`, ['dns.managedZones.get']),
  records: method('resourceRecordSets.list', 'GET', `${zone}/{zone}/rrsets`, [
    'dns.resourceRecordSets.list',
  ]),
  change: method('changes.create', 'POST', `${zone}/{zone}/changes`, [
    'dns.changes.create',
    'dns.resourceRecordSets.create',
    'dns.resourceRecordSets.delete',
  ]),
} as const;

export interface ManagedZone {
  readonly name?: string;
  readonly id?: string;
  readonly dnsName?: string;
  readonly visibility?: string;
}

export interface ResourceRecordSet {
  readonly name?: string;
  readonly type?: string;
  readonly ttl?: number;
  readonly rrdatas?: readonly string[];
}

export interface ZonePlace {
  readonly project: string;
  /** Name of the managed zone, or its number. */
  readonly zone: string;
}

/** The calls of Cloud DNS that writing records needs. All throw GoogleError. */
export class CloudDnsApi {
  readonly #rest: GoogleRest;

  constructor(token: Token, root: string = dnsRoot(), clock?: Clock) {
    this.#rest = new GoogleRest(root, token, clock);
  }

  /** All managed zones of this DNS name, public and private. */
  async zonesOf(project: string, dnsName: string, signal: AbortSignal): Promise<ManagedZone[]> {
    const parts = { path: { project }, query: { dnsName } };
    const { managedZones = [] } = await this.#rest.call<{ managedZones?: ManagedZone[] }>(
      dnsMethods.zones,
      parts,
      signal,
    );
    return managedZones;
  }

  async zone(place: ZonePlace, signal: AbortSignal): Promise<ManagedZone> {
    return this.#rest.call(dnsMethods.zone, { path: { ...place } }, signal);
  }

  /** All pages. @param name  only the sets of this name */
  async records(
    place: ZonePlace,
    name: string | undefined,
    signal: AbortSignal,
  ): Promise<ResourceRecordSet[]> {
    const all: ResourceRecordSet[] = [];
    let next: string | undefined = '';
    while (next !== undefined) {
      const query = {
        ...(name !== undefined && { name }),
        ...(next !== '' && { pageToken: next }),
      };
      // oxlint-disable-next-line no-await-in-loop -- each page says where the next one begins
      const page: RecordPage = await this.#rest.call(
        dnsMethods.records,
        { path: { ...place }, query },
        signal,
      );
      all.push(...(page.rrsets ?? []));
      next = page.nextPageToken === '' ? undefined : page.nextPageToken;
    }
    return all;
  }

  /** Atomic: each deletion must be there exactly so, and no addition may be there. */
  async change(
    place: ZonePlace,
    body: { additions: ResourceRecordSet[]; deletions: ResourceRecordSet[] },
    signal: AbortSignal,
  ): Promise<void> {
    await this.#rest.call(dnsMethods.change, { path: { ...place }, body }, signal);
  }
}

interface RecordPage {
  readonly rrsets?: readonly ResourceRecordSet[];
  readonly nextPageToken?: string;
}

/** The variable that Google's own command line reads for other endpoints. */
function dnsRoot(): string {
  return process.env['CLOUDSDK_API_ENDPOINT_OVERRIDES_DNS'] ?? 'https://dns.googleapis.com/dns/v1/';
}
