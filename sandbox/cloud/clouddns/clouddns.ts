import type { Clock, Duration } from '#schemas/time/clock.ts';

import { googleRefusal } from '../gce/google-error.ts';
import { tokenAnswer } from '../gce/metadata-server.ts';
import { CloudError, type Exchange, type Protocol, WireService } from '../wire/service.ts';
import { applied, type Change, emptyZone, type Records, type RecordSet } from './zone.ts';

export interface ManagedZone {
  readonly project: string;
  readonly name: string;
  readonly id: string;
  /** With its final dot. */
  readonly dnsName: string;
  /** What the API shows. */
  records: Records;
  /** What DNS answers: follows `records` after a while. */
  published: Records;
}

/** A call as Cloud DNS sees it. */
export interface CloudDnsCall {
  readonly path: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: unknown;
}

/** Cloud DNS on a loopback port: managed zones, atomic changes with exact deletions, and their spreading to DNS. */
export class CloudDns extends WireService<CloudDnsCall> {
  readonly zones: ManagedZone[];

  constructor(options: { clock: Clock; timings: { readonly propagation: Duration } }) {
    const zones: ManagedZone[] = [];
    super(new CloudDnsProtocol(zones, options), options.clock);
    this.zones = zones;
  }

  /** Makes a zone, as a person does once before any machine. */
  create(project: string, name: string, domain: string): ManagedZone {
    const dnsName = `${domain}.`;
    const records = emptyZone(dnsName);
    const id = String(7_000_000_000_000_000 + this.zones.length);
    const zone = { project, name, id, dnsName, records, published: records };
    this.zones.push(zone);
    return zone;
  }
}

interface Route {
  readonly http: string;
  readonly path: RegExp;
  readonly action: string;
  readonly query: readonly string[];
}

const home = String.raw`^/dns/v1/projects/(?<project>[^/]+)/managedZones`;
const paging = ['maxResults', 'pageToken'];

/** Source: Cloud DNS API reference v1, HTTP request and query parameters of each method. */
const routes: readonly Route[] = [
  {
    http: 'GET',
    path: new RegExp(`${home}$`),
    action: 'managedZones.list',
    query: ['dnsName', ...paging],
  },
  {
    http: 'GET',
    path: new RegExp(`${home}/(?<zone>[^/]+)$`),
    action: 'managedZones.get',
    query: ['clientOperationId'],
  },
  {
    http: 'GET',
    path: new RegExp(`${home}/(?<zone>[^/]+)/rrsets$`),
    action: 'resourceRecordSets.list',
    query: ['name', 'type', ...paging],
  },
  {
    http: 'POST',
    path: new RegExp(`${home}/(?<zone>[^/]+)/changes$`),
    action: 'changes.create',
    query: ['clientOperationId'],
  },
];

class CloudDnsProtocol implements Protocol<CloudDnsCall> {
  readonly headers = { 'content-type': 'application/json' };
  readonly #zones: readonly ManagedZone[];
  readonly #clock: Clock;
  readonly #propagation: Duration;
  #changes = 0;

  constructor(
    zones: readonly ManagedZone[],
    { clock, timings }: { clock: Clock; timings: { readonly propagation: Duration } },
  ) {
    this.#zones = zones;
    this.#clock = clock;
    this.#propagation = timings.propagation;
  }

  admit(authorization: string | undefined): void {
    if (authorization === `Bearer ${tokenAnswer.token}`) return;
    throw new CloudError('authError', 'Invalid Credentials', 401);
  }

  read({ method, url, body }: Exchange): { action: string; parameters: CloudDnsCall } {
    for (const { http, path, action, query } of routes) {
      const groups = http === method ? path.exec(url.pathname)?.groups : undefined;
      if (!groups) continue;
      const unknown = [...url.searchParams.keys()].find((name) => !query.includes(name));
      if (unknown !== undefined) throw unknownName(unknown, 'query');
      const parsed: unknown = body === '' ? undefined : JSON.parse(body);
      const values = Object.fromEntries(
        Object.entries(groups).map(([name, value]) => [name, decodeURIComponent(value)]),
      );
      return { action, parameters: { path: values, query: url.searchParams, body: parsed } };
    }
    throw new CloudError('notFound', `No such method: ${method} ${url.pathname}`, 404);
  }

  act(action: string, { path, query, body }: CloudDnsCall): string {
    const answers: Readonly<Record<string, () => unknown>> = {
      'managedZones.list': () => this.#list(path, query),
      'managedZones.get': () => zoneView(this.#zone(path)),
      'resourceRecordSets.list': () => recordsView(this.#zone(path), query),
      'changes.create': () => this.#change(this.#zone(path), readChange(body)),
    };
    return JSON.stringify(answers[action]?.());
  }

  refuse(error: CloudError): string {
    return googleRefusal(error);
  }

  #list({ project }: CloudDnsCall['path'], query: URLSearchParams): unknown {
    const name = query.get('dnsName');
    const found = this.#zones.filter(
      (zone) => zone.project === project && (name === null || zone.dnsName === name),
    );
    return { managedZones: found.map(zoneView) };
  }

  #zone({ project, zone = '' }: CloudDnsCall['path']): ManagedZone {
    const found = this.#zones.find(
      (one) => one.project === project && (one.name === zone || one.id === zone),
    );
    if (found) return found;
    const message = `The 'parameters.managedZone' resource named '${zone}' does not exist.`;
    throw new CloudError('notFound', message, 404);
  }

  #change(zone: ManagedZone, change: Change): unknown {
    zone.records = applied(zone.dnsName, zone.records, change);
    const accepted = zone.records;
    this.#clock.after(this.#propagation, () => {
      zone.published = accepted;
    });
    this.#changes += 1;
    const startTime = this.#clock.stamp();
    return {
      kind: 'dns#change',
      id: String(this.#changes),
      status: 'pending',
      startTime,
      ...change,
    };
  }
}

function zoneView({ name, id, dnsName }: ManagedZone): unknown {
  return { kind: 'dns#managedZone', name, id, dnsName, visibility: 'public' };
}

/** In the order of names, 100 to a page unless said otherwise. */
function recordsView({ records }: ManagedZone, query: URLSearchParams): unknown {
  const [name, type] = [query.get('name'), query.get('type')];
  if (type !== null && name === null) {
    throw new CloudError('invalid', "Parameter 'type' needs parameter 'name'.");
  }
  const all = [...records.values()]
    .filter((one) => (name ?? one.name) === one.name && (type ?? one.type) === one.type)
    .toSorted((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)));
  const from = Number(query.get('pageToken') ?? 0);
  const to = from + Number(query.get('maxResults') ?? 100);
  return { rrsets: all.slice(from, to), ...(to < all.length && { nextPageToken: String(to) }) };
}

/** Throws badRequest for a field that a change does not have. */
function readChange(body: unknown): Change {
  const { additions = [], deletions = [], ...rest } = (body ?? {}) as Partial<Change>;
  const [unknown] = Object.keys(rest).filter((key) => key !== 'kind');
  if (unknown !== undefined) throw unknownName(unknown, 'change');
  return { additions: additions.map(readSet), deletions: deletions.map(readSet) };
}

function readSet(set: RecordSet): RecordSet {
  const { name, type, ttl, rrdatas, ...rest } = set;
  const [unknown] = Object.keys(rest).filter((key) => key !== 'kind');
  if (unknown !== undefined) throw unknownName(unknown, 'change.additions');
  if (typeof name !== 'string' || !name.endsWith('.')) {
    throw new CloudError('invalid', `Invalid value for 'entity.change.name': '${name}'`);
  }
  return { name: name.toLowerCase(), type, ttl, rrdatas: rrdatas ?? [] };
}

function unknownName(name: string, path: string): CloudError {
  const message = `Invalid JSON payload received. Unknown name "${name}" at '${path}': Cannot find field.`;
  return new CloudError('badRequest', message);
}
