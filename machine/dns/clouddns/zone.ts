import type { MachineError } from '../../errors.ts';
import { type Change, plainName, type RecordSet } from '../changes.ts';
import type { ListedZone } from '../listed-zone.ts';
import type { CloudDnsApi, ResourceRecordSet, ZonePlace } from './api.ts';
import { isRefusedChange, toDnsError } from './errors.ts';

/** Above this many names one walk through the zone costs less calls than asking each. */
const askEachUpTo = 12;

/** Reads and writes of one managed zone. */
export class CloudDnsZone implements ListedZone {
  readonly id: string;
  readonly #api: CloudDnsApi;
  readonly #place: ZonePlace;
  /** Shared by many callers, so no one's signal ends it. */
  readonly #signal = new AbortController().signal;

  /** @param id  as {@link zoneIdOf} gives it */
  constructor(api: CloudDnsApi, id: string) {
    this.#api = api;
    this.id = id;
    this.#place = placeOf(id);
  }

  async read(names: readonly string[]): Promise<RecordSet[]> {
    const asked = names.length > askEachUpTo ? [undefined] : names.map(withDot);
    const lists = asked.map(async (name) => this.#api.records(this.#place, name, this.#signal));
    return (await Promise.all(lists)).flat().map(fromCloudDns);
  }

  /** The whole zone, or an error: a page that fails fails all. */
  async everything(): Promise<RecordSet[]> {
    return (await this.#api.records(this.#place, undefined, this.#signal)).map(fromCloudDns);
  }

  async change(changes: readonly Change[]): Promise<void> {
    const of = (action: Change['action']): ResourceRecordSet[] =>
      changes.filter((one) => one.action === action).map(({ set }) => toCloudDns(set));
    const body = { additions: of('create'), deletions: of('delete') };
    await this.#api.change(this.#place, body, this.#signal);
  }

  isRefusal(error: unknown): boolean {
    return isRefusedChange(error);
  }

  toError(error: unknown, doing: string): MachineError {
    return toDnsError(error, doing);
  }
}

/** What a node class's revision keeps of a zone: project and zone in one. */
export function zoneIdOf({ project, zone }: ZonePlace): string {
  return `projects/${project}/managedZones/${zone}`;
}

function placeOf(id: string): ZonePlace {
  const [, project, zone] = /^projects\/([^/]+)\/managedZones\/([^/]+)$/.exec(id) ?? [];
  if (project !== undefined && zone !== undefined) return { project, zone };
  throw new Error(`${id} is no zone of Cloud DNS`);
}

export function withDot(name: string): string {
  return name.endsWith('.') ? name : `${name}.`;
}

function fromCloudDns({ name = '', type = '', ttl = 0, rrdatas = [] }: ResourceRecordSet) {
  return { name: plainName(name), type, ttl, values: rrdatas };
}

function toCloudDns({ name, type, ttl, values }: RecordSet): ResourceRecordSet {
  return { name: withDot(name), type, ttl, rrdatas: [...values] };
}
