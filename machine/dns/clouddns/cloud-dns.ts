import type { Clock } from '#schemas/time/clock.ts';

import { NodeClassError, Unauthorized } from '../../errors.ts';
import { faults } from '../../faults.ts';
import { plainName } from '../changes.ts';
import { ownedIn } from '../listed-zone.ts';
import { ZonedDns } from '../zoned-dns.ts';
import type { CloudDnsApi, ManagedZone, ZonePlace } from './api.ts';
import { isRefusedChange, toDnsError } from './errors.ts';
import { CloudDnsZone, withDot, zoneIdOf } from './zone.ts';

/** Names of machines in the Cloud DNS of one project. Orders of many machines to one zone share its calls. */
export class CloudDns extends ZonedDns {
  readonly #api: CloudDnsApi;
  readonly #project: string;

  constructor(options: { clock: Clock; api: CloudDnsApi; project: string }) {
    super(options.clock);
    this.#api = options.api;
    this.#project = options.project;
  }

  /** @param zoneID  name or number of the managed zone, where several have the DNS name */
  override async resolveZone(
    zone: string,
    zoneID: string | undefined,
    signal: AbortSignal,
  ): Promise<string> {
    const name = zoneID ?? (await this.#find(zone, signal));
    const place = { project: this.#project, zone: name };
    const found = await this.#ask(
      `Reading zone ${name} (${zone})`,
      async () => this.#api.zone(place, signal),
      signal,
    );
    if (plainName(found.dnsName ?? '') !== plainName(zone)) {
      throw new NodeClassError(
        faults.zoneNotFound,
        `Managed zone ${name} of project ${this.#project} is ${found.dnsName}, not ${zone}; correct spec.dns.zone or spec.dns.zoneID.`,
      );
    }
    await this.#proveWritable(place, zone, signal);
    return zoneIdOf(place);
  }

  async owned(zoneID: string, clusterUid: string, signal: AbortSignal) {
    return ownedIn(this.zone(zoneID), clusterUid, signal);
  }

  protected override zone(zoneID: string): CloudDnsZone {
    return new CloudDnsZone(this.#api, zoneID);
  }

  async #find(zone: string, signal: AbortSignal): Promise<string> {
    const zones = await this.#ask(
      `Looking for zone ${zone}`,
      async () => this.#api.zonesOf(this.#project, withDot(plainName(zone)), signal),
      signal,
    );
    const names = zones.filter((one) => isOf(one, zone)).flatMap(({ name }) => name ?? []);
    const [only] = names;
    if (only === undefined) {
      throw new NodeClassError(
        faults.zoneNotFound,
        `Cloud DNS has no managed zone ${zone} in project ${this.#project}; create it, or correct spec.dns.zone or spec.dns.project.`,
      );
    }
    if (names.length === 1) return only;
    throw new NodeClassError(
      faults.zoneAmbiguous,
      `Cloud DNS has several managed zones ${zone} (${names.join(', ')}); name one in spec.dns.zoneID.`,
    );
  }

  /**
   * Asks to delete a record that does not exist: the permission is judged first and then the change refused, so that
   * the right to write is proven and nothing is written.
   */
  async #proveWritable(place: ZonePlace, zone: string, signal: AbortSignal): Promise<void> {
    const absent = {
      name: `_kpu-check.${withDot(plainName(zone))}`,
      type: 'TXT',
      ttl: 300,
      rrdatas: ['"never written"'],
    };
    const body = { additions: [], deletions: [absent] };
    const send = async (): Promise<void> => {
      await this.#api.change(place, body, signal).catch((error: unknown) => {
        if (!isRefusedChange(error)) throw error;
      });
    };
    await this.#ask(`Trying to write to zone ${place.zone} (${zone})`, send, signal);
  }

  async #ask<T>(doing: string, send: () => Promise<T>, signal: AbortSignal): Promise<T> {
    try {
      return await send();
    } catch (error) {
      signal.throwIfAborted();
      const known = toDnsError(error, doing);
      if (!(known instanceof Unauthorized)) throw known;
      throw new NodeClassError(faults.zoneForbidden, known.message, { cause: error });
    }
  }
}

function isOf({ dnsName = '' }: ManagedZone, zone: string): boolean {
  return plainName(dnsName) === plainName(zone);
}
