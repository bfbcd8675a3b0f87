import {
  ChangeResourceRecordSetsCommand,
  ListResourceRecordSetsCommand,
  type ListResourceRecordSetsCommandInput,
  type ListResourceRecordSetsCommandOutput,
  type ResourceRecordSet,
  type Route53Client,
  type RRType,
} from '@aws-sdk/client-route-53';

import type { MachineError } from '../../errors.ts';
import { type Change, plainName, type RecordSet } from '../changes.ts';
import type { ListedZone } from '../listed-zone.ts';
import { isRefusedBatch, toDnsError } from './errors.ts';

/** Above this many names one walk through the zone costs less of the account's five calls a second than asking each. */
const askEachUpTo = 12;

/** Reads and writes of one hosted zone. */
export class Route53Zone implements ListedZone {
  readonly id: string;
  readonly #client: Route53Client;

  constructor(client: Route53Client, id: string) {
    this.#client = client;
    this.id = id;
  }

  async read(names: readonly string[]): Promise<RecordSet[]> {
    const sets =
      names.length > askEachUpTo
        ? await this.#sets()
        : (await Promise.all(names.map(async (name) => this.#at(name)))).flat();
    return sets.map(fromRoute53);
  }

  async change(changes: readonly Change[]): Promise<void> {
    const Changes = changes.map(({ action, set }) => ({
      Action: action === 'create' ? ('CREATE' as const) : ('DELETE' as const),
      ResourceRecordSet: toRoute53(set),
    }));
    await this.#client.send(
      new ChangeResourceRecordSetsCommand({ HostedZoneId: this.id, ChangeBatch: { Changes } }),
    );
  }

  isRefusal(error: unknown): boolean {
    return isRefusedBatch(error);
  }

  toError(error: unknown, doing: string): MachineError {
    return toDnsError(error, doing);
  }

  /** Record sets are listed in order from a name on; those of one name are few. */
  async #at(name: string): Promise<ResourceRecordSet[]> {
    const { ResourceRecordSets = [] } = await this.#client.send(
      new ListResourceRecordSetsCommand({
        HostedZoneId: this.id,
        StartRecordName: name,
        MaxItems: 10,
      }),
    );
    return ResourceRecordSets.filter((set) => nameOf(set) === name);
  }

  /** The whole zone, or an error: a page that fails fails all. */
  async everything(): Promise<RecordSet[]> {
    return (await this.#sets()).map(fromRoute53);
  }

  async #sets(): Promise<ResourceRecordSet[]> {
    const all: ResourceRecordSet[] = [];
    let from: Partial<ListResourceRecordSetsCommandInput> | undefined = {};
    while (from) {
      // oxlint-disable-next-line no-await-in-loop -- each page says where the next one begins
      const page: ListResourceRecordSetsCommandOutput = await this.#client.send(
        new ListResourceRecordSetsCommand({ HostedZoneId: this.id, MaxItems: 300, ...from }),
      );
      all.push(...(page.ResourceRecordSets ?? []));
      from = page.IsTruncated
        ? {
            StartRecordName: page.NextRecordName,
            StartRecordType: page.NextRecordType,
            StartRecordIdentifier: page.NextRecordIdentifier,
          }
        : undefined;
    }
    return all;
  }
}

/** A name as Route 53 gives it back has its dot, and `*` in octal. */
function nameOf({ Name = '' }: ResourceRecordSet): string {
  return plainName(Name).replaceAll('\\052', '*');
}

function fromRoute53(set: ResourceRecordSet): RecordSet {
  const { Type: type = '', TTL: ttl = 0, ResourceRecords = [] } = set;
  return { name: nameOf(set), type, ttl, values: ResourceRecords.map(({ Value = '' }) => Value) };
}

function toRoute53({ name, type, ttl, values }: RecordSet): ResourceRecordSet {
  const ResourceRecords = values.map((Value) => ({ Value }));
  return { Name: name, Type: type as RRType, TTL: ttl, ResourceRecords };
}
