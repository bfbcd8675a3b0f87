import type { Clock } from '#schemas/time/clock.ts';

import { CloudError, type Exchange, type Protocol, WireService } from '../wire/service.ts';
import {
  child,
  list,
  MalformedXml,
  readXml,
  textOf,
  type XmlElement,
  type XmlTree,
  xmlDocument,
} from '../wire/xml.ts';
import { byReversedName, canonical, type Change, type RecordSet } from './zone.ts';
import { type ChangeInfo, type HostedZone, type Route53Timings, Zones } from './zones.ts';

const namespace = 'https://route53.amazonaws.com/doc/2013-04-01/';

/** A call as Route 53 sees it. */
export interface Route53Call {
  /** Of the zone or the change that the path names. */
  readonly id: string;
  readonly query: URLSearchParams;
  /** Of ChangeResourceRecordSets. */
  readonly changes: readonly Change[];
}

/** Route 53 on a loopback port: zones, atomic batches of record changes, and their spreading to DNS. */
export class Route53 extends WireService<Route53Call> {
  readonly zones: Zones;

  constructor(options: { clock: Clock; timings: Route53Timings }) {
    const zones = new Zones(options.clock, options.timings);
    super(new Route53Protocol(zones), options.clock);
    this.zones = zones;
  }
}

interface Route {
  readonly method: string;
  readonly path: RegExp;
  readonly action: string;
}

/** Source: Route 53 API reference, request syntax of each action. */
const routes: readonly Route[] = [
  { method: 'GET', path: /^hostedzonesbyname$/, action: 'ListHostedZonesByName' },
  { method: 'GET', path: /^hostedzone$/, action: 'ListHostedZones' },
  { method: 'GET', path: /^hostedzone\/([^/]+)$/, action: 'GetHostedZone' },
  { method: 'GET', path: /^hostedzone\/([^/]+)\/rrset$/, action: 'ListResourceRecordSets' },
  { method: 'POST', path: /^hostedzone\/([^/]+)\/rrset$/, action: 'ChangeResourceRecordSets' },
  { method: 'GET', path: /^change\/([^/]+)$/, action: 'GetChange' },
];

class Route53Protocol implements Protocol<Route53Call> {
  readonly #zones: Zones;

  constructor(zones: Zones) {
    this.#zones = zones;
  }

  read({ method, url, body }: Exchange): { action: string; parameters: Route53Call } {
    const path = url.pathname.replace(/^\/2013-04-01\//, '').replace(/\/$/, '');
    const route = routes.find((one) => one.method === method && one.path.test(path));
    if (!route) throw new CloudError('InvalidAction', `No such operation: ${method} ${path}`, 404);
    const changes = route.action === 'ChangeResourceRecordSets' ? readChanges(body) : [];
    const id = route.path.exec(path)?.[1] ?? '';
    return { action: route.action, parameters: { id, query: url.searchParams, changes } };
  }

  act(action: string, parameters: Route53Call): string {
    const actions: Record<string, (call: Route53Call) => XmlTree> = {
      ListHostedZonesByName: ({ query }) => this.#listByName(query),
      ListHostedZones: () => this.#list(),
      GetHostedZone: ({ id }) => this.#get(id),
      ListResourceRecordSets: ({ id, query }) => listRecords(this.#zones.get(id), query),
      ChangeResourceRecordSets: ({ id, changes }) =>
        this.#changeTree(this.#zones.change(id, changes)),
      GetChange: ({ id }) => this.#changeTree(this.#zones.changeInfo(id)),
    };
    return xmlDocument(`${action}Response`, actions[action]!(parameters), namespace);
  }

  /** InvalidChangeBatch too: its own root element is history (aws/aws-sdk-kotlin#1433). */
  refuse({ code, message, status }: CloudError, requestId: string): string {
    const Type = status < 500 ? 'Sender' : 'Receiver';
    const error = { Error: { Type, Code: code, Message: message }, RequestId: requestId };
    return xmlDocument('ErrorResponse', error, namespace);
  }

  #listByName(query: URLSearchParams): XmlTree {
    const from = query.get('dnsname');
    const start = from === null ? undefined : { name: canonical(from), type: '' };
    const sorted = this.#zones.all
      .map((zone) => ({ zone, name: zone.name, type: '' }))
      .filter((one) => start === undefined || byReversedName(one, start) >= 0)
      .toSorted(byReversedName);
    const most = sizeOf(query, 100);
    const shown = sorted.slice(0, most).map(({ zone }) => zoneTree(zone));
    return {
      HostedZones: { HostedZone: shown },
      DNSName: from ?? undefined,
      IsTruncated: sorted.length > most,
      NextDNSName: sorted[most]?.name,
      NextHostedZoneId: sorted[most]?.zone.id,
      MaxItems: most,
    };
  }

  #list(): XmlTree {
    const zones = this.#zones.all.map(zoneTree);
    return { HostedZones: { HostedZone: zones }, Marker: '', IsTruncated: false, MaxItems: 100 };
  }

  #get(id: string): XmlTree {
    const nameServers = { NameServers: { NameServer: ['ns-1.sandbox.test'] } };
    return { HostedZone: zoneTree(this.#zones.get(id)), DelegationSet: nameServers };
  }

  #changeTree(info: ChangeInfo): XmlTree {
    const Status = this.#zones.isInSync(info) ? 'INSYNC' : 'PENDING';
    return { ChangeInfo: { Id: `/change/${info.id}`, Status, SubmittedAt: info.submittedAt } };
  }
}

function zoneTree({ id, name, records }: HostedZone): XmlTree {
  return {
    Id: `/hostedzone/${id}`,
    Name: name,
    CallerReference: id,
    Config: { PrivateZone: false },
    ResourceRecordSetCount: records.size,
  };
}

function listRecords(zone: HostedZone, query: URLSearchParams): XmlTree {
  const start = { name: canonical(query.get('name') ?? zone.name), type: query.get('type') ?? '' };
  const sorted = [...zone.records.values()]
    .toSorted(byReversedName)
    .filter((record) => byReversedName(record, start) >= 0);
  const most = sizeOf(query, 300);
  const next = sorted[most];
  return {
    ResourceRecordSets: { ResourceRecordSet: sorted.slice(0, most).map(recordTree) },
    IsTruncated: next !== undefined,
    NextRecordName: next?.name,
    NextRecordType: next?.type,
    MaxItems: most,
  };
}

function recordTree({ name, type, ttl, values }: RecordSet): XmlTree {
  const records = { ResourceRecord: values.map((value) => ({ Value: value })) };
  return { Name: name, Type: type, TTL: ttl, ResourceRecords: records };
}

function sizeOf(query: URLSearchParams, most: number): number {
  const asked = Number(query.get('maxitems') ?? most);
  if (Number.isInteger(asked) && asked >= 1) return Math.min(asked, most);
  throw new CloudError('InvalidInput', `MaxItems must be a positive number`);
}

/** Throws MalformedInput or InvalidInput. */
function readChanges(body: string): Change[] {
  let root: XmlElement;
  try {
    root = readXml(body);
  } catch (error) {
    if (!(error instanceof MalformedXml)) throw error;
    throw new CloudError('MalformedInput', 'Unexpected end of input or invalid XML');
  }
  const changes = list(child(root, 'ChangeBatch'), 'Changes').map(readChange);
  if (changes.length > 0) return changes;
  throw new CloudError('InvalidInput', 'The batch holds no change');
}

function readChange(change: XmlElement): Change {
  const action = textOf(change, 'Action') ?? '';
  if (!['CREATE', 'UPSERT', 'DELETE'].includes(action)) {
    throw new CloudError('InvalidInput', `Invalid action '${action}'`);
  }
  const set = child(change, 'ResourceRecordSet');
  const record = {
    name: canonical(textOf(set, 'Name') ?? ''),
    type: textOf(set, 'Type') ?? '',
    ttl: Number(textOf(set, 'TTL')),
    values: list(set, 'ResourceRecords').map((one) => textOf(one, 'Value') ?? ''),
  };
  if (Number.isInteger(record.ttl) && record.values.length > 0) return { action, record };
  throw new CloudError(
    'InvalidInput',
    `Invalid request: Expected exactly one of [AliasTarget, all of [TTL, and ResourceRecords], or TrafficPolicyInstanceId], but found none in Change with [Action=${action}, Name=${record.name}, Type=${record.type}]`,
  );
}
