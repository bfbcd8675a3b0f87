import { type Call, type Reply, type Wire, xml } from './wire.ts';

interface RecordSet {
  readonly name: string;
  readonly type: string;
  readonly ttl: string;
  readonly value: string;
}

/** One hosted zone that keeps records as Route 53 does: a batch is applied whole or refused whole. */
export class HostedZone {
  readonly records = new Map<string, RecordSet>();
  /** Changes that were asked for, batch by batch, as `CREATE A name`. */
  readonly batches: string[][] = [];
  /** Answers to give instead of the next changes. */
  readonly refuse: Reply[] = [];
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  serve(wire: Wire): void {
    wire.script = (call) => this.#answer(call);
  }

  /** `name type value`, as a resolver would see the zone. */
  get contents(): string[] {
    return [...this.records.values()].map(({ name, type, value }) => `${name} ${type} ${value}`);
  }

  put(name: string, type: string, value: string, ttl = '60'): void {
    this.records.set(`${name} ${type}`, { name, type, ttl, value });
  }

  #answer(call: Call): Reply {
    if (call.path.endsWith('/hostedzonesbyname')) return this.#byName();
    if (call.method === 'POST') return this.refuse.shift() ?? this.#change(call.body);
    if (call.path.endsWith('/rrset')) return this.#list(call);
    return { body: envelope('GetHostedZone', xml({ HostedZone: this.#zone })) };
  }

  get #zone() {
    return { Id: '/hostedzone/Z1', Name: `${this.#name}.`, CallerReference: 'x' };
  }

  #byName(): Reply {
    const body = `<HostedZones><HostedZone>${xml(this.#zone)}</HostedZone></HostedZones><IsTruncated>false</IsTruncated><MaxItems>10</MaxItems>`;
    return { body: envelope('ListHostedZonesByName', body) };
  }

  /** In the order of names; from a name on when one is given, like the real one. */
  #list({ parameters }: Call): Reply {
    const from = (parameters.get('name') ?? '').replace(/\.$/, '');
    const sets = [...this.records.values()]
      .filter(({ name }) => from === '' || name >= from)
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .map(setXml);
    const body = `<ResourceRecordSets>${sets.join('')}</ResourceRecordSets><IsTruncated>false</IsTruncated><MaxItems>300</MaxItems>`;
    return { body: envelope('ListResourceRecordSets', body) };
  }

  #change(body: string): Reply {
    const changes = [...body.matchAll(/<Change>(.*?)<\/Change>/gs)].map(([, text = '']) => ({
      action: field(text, 'Action'),
      name: field(text, 'Name').replace(/\.$/, ''),
      type: field(text, 'Type'),
      ttl: field(text, 'TTL'),
      value: field(text, 'Value').replaceAll('&quot;', '"'),
    }));
    this.batches.push(changes.map(({ action, type, name }) => `${action} ${type} ${name}`));
    const next = new Map(this.records);
    for (const { action, ...set } of changes) {
      const key = `${set.name} ${set.type}`;
      const isThere = next.has(key);
      const isExact = JSON.stringify(next.get(key)) === JSON.stringify(toSet(set));
      if (action === 'CREATE' ? isThere : !isExact) return invalidBatch(`${action} ${key}`);
      if (action === 'CREATE') next.set(key, toSet(set));
      else next.delete(key);
    }
    this.records.clear();
    for (const [key, set] of next) this.records.set(key, set);
    const info = { Id: '/change/C1', Status: 'PENDING', SubmittedAt: '2026-01-01T00:00:00Z' };
    return { body: envelope('ChangeResourceRecordSets', xml({ ChangeInfo: info })) };
  }
}

export function refusal(code: string, status: number): Reply {
  return {
    status,
    body: `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>told ${code}</Message></Error></ErrorResponse>`,
  };
}

export function invalidBatch(what: string): Reply {
  return {
    status: 400,
    body: `<InvalidChangeBatch><Messages><Message>${what} does not hold</Message></Messages></InvalidChangeBatch>`,
  };
}

const toSet = ({ name, type, ttl, value }: RecordSet): RecordSet => ({ name, type, ttl, value });

function setXml({ name, type, ttl, value }: RecordSet): string {
  const records = `<ResourceRecord>${xml({ Value: value })}</ResourceRecord>`;
  const escaped = `${name.replace('*', '\\052')}.`;
  return `<ResourceRecordSet>${xml({ Name: escaped, Type: type, TTL: ttl })}<ResourceRecords>${records}</ResourceRecords></ResourceRecordSet>`;
}

function envelope(action: string, body: string): string {
  return `<${action}Response xmlns="https://route53.amazonaws.com/doc/2013-04-01/">${body}</${action}Response>`;
}

function field(text: string, name: string): string {
  return new RegExp(`<${name}>(.*?)</${name}>`, 's').exec(text)?.[1] ?? '';
}
