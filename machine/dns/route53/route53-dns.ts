import {
  ChangeResourceRecordSetsCommand,
  GetHostedZoneCommand,
  type HostedZone,
  ListHostedZonesByNameCommand,
  type Route53Client,
} from '@aws-sdk/client-route-53';

import type { Clock } from '#schemas/time/clock.ts';

import { NodeClassError, Unauthorized } from '../../errors.ts';
import { faults } from '../../faults.ts';
import { plainName } from '../changes.ts';
import { ownedIn } from '../listed-zone.ts';
import { ZonedDns } from '../zoned-dns.ts';
import { isRefusedBatch, toDnsError } from './errors.ts';
import { Route53Zone } from './zone.ts';

/** Names of machines in Route 53. Orders of many machines to one zone share its calls. */
export class Route53Dns extends ZonedDns {
  readonly #client: Route53Client;

  constructor(options: { clock: Clock; client: Route53Client }) {
    super(options.clock);
    this.#client = options.client;
  }

  override async resolveZone(
    zone: string,
    zoneID: string | undefined,
    signal: AbortSignal,
  ): Promise<string> {
    const id = zoneID ?? (await this.#find(plainName(zone), signal));
    const found = await this.#get(id, zone, signal);
    if (plainName(found.Name ?? '') !== plainName(zone)) {
      throw new NodeClassError(
        faults.zoneNotFound,
        `Hosted zone ${id} is ${found.Name}, not ${zone}; correct spec.dns.zone or spec.dns.zoneID.`,
      );
    }
    await this.#proveWritable(id, zone, signal);
    return id;
  }

  async owned(zoneID: string, clusterUid: string, signal: AbortSignal) {
    return ownedIn(this.zone(zoneID), clusterUid, signal);
  }

  protected override zone(zoneID: string): Route53Zone {
    return new Route53Zone(this.#client, zoneID);
  }

  async #find(zone: string, signal: AbortSignal): Promise<string> {
    const { HostedZones = [] } = await this.#ask(
      `Looking for zone ${zone}`,
      async () =>
        this.#client.send(new ListHostedZonesByNameCommand({ DNSName: zone, MaxItems: 10 }), {
          abortSignal: signal,
        }),
      signal,
    );
    const ids = HostedZones.filter(({ Name = '' }) => plainName(Name) === zone).map(idOf);
    const [only] = ids;
    if (only === undefined) {
      throw new NodeClassError(
        faults.zoneNotFound,
        `Route 53 has no hosted zone ${zone} in this account; create it, or correct spec.dns.zone.`,
      );
    }
    if (ids.length === 1) return only;
    throw new NodeClassError(
      faults.zoneAmbiguous,
      `Route 53 has several hosted zones ${zone} (${ids.join(', ')}); name one in spec.dns.zoneID.`,
    );
  }

  async #get(id: string, zone: string, signal: AbortSignal): Promise<HostedZone> {
    const { HostedZone: found } = await this.#ask(
      `Reading zone ${id} (${zone})`,
      async () => this.#client.send(new GetHostedZoneCommand({ Id: id }), { abortSignal: signal }),
      signal,
    );
    return found ?? { Id: id, Name: '', CallerReference: '' };
  }

  /**
   * Asks to delete a record that does not exist: Route 53 judges the permission first and then refuses the batch, so
   * that the right to write is proven and nothing is written.
   */
  async #proveWritable(id: string, zone: string, signal: AbortSignal): Promise<void> {
    const absent = {
      Name: `_kpu-check.${plainName(zone)}`,
      Type: 'TXT' as const,
      TTL: 300,
      ResourceRecords: [{ Value: '"never written"' }],
    };
    const command = new ChangeResourceRecordSetsCommand({
      HostedZoneId: id,
      ChangeBatch: { Changes: [{ Action: 'DELETE', ResourceRecordSet: absent }] },
    });
    const send = async (): Promise<void> => {
      await this.#client.send(command, { abortSignal: signal }).catch((error: unknown) => {
        if (!isRefusedBatch(error)) throw error;
      });
    };
    await this.#ask(`Trying to write to zone ${id} (${zone})`, send, signal);
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

/** `/hostedzone/Z123` → `Z123` */
function idOf({ Id = '' }: HostedZone): string {
  return Id.replace('/hostedzone/', '');
}
