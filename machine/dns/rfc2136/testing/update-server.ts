import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';

import { statuses } from '../errors.ts';
import { framed, frames } from '../exchange.ts';
import { sign, signatureIn, tsigErrors, verify, type TsigKey } from '../tsig.ts';
import {
  afterName,
  answersIn,
  classes,
  dataBytes,
  nameAt,
  nameBytes,
  recordBytes,
  types,
  valueOf,
  type WireRecord,
} from '../wire.ts';

/** In place of an answer: a status, of a signature too, `silence`, `hang-up`, or an answer that is `unsigned`. */
export type Fault = string;

interface Request {
  readonly isUpdate: boolean;
  readonly zone: string;
  readonly question: Buffer;
  readonly questionType: number;
  readonly prerequisites: readonly WireRecord[];
  readonly updates: readonly WireRecord[];
}

/** One zone on loopback that takes updates as RFC 2136 §3 has it, and misbehaves as told. */
export class FakeUpdateServer {
  /** `name type` → its records. */
  readonly #records = new Map<string, WireRecord[]>();
  readonly #zone: string;
  readonly #key: TsigKey;
  readonly #now: () => number;
  readonly #server = createServer((socket) => this.#serve(socket));
  /** Number of changes of each update that had any. */
  readonly updates: number[] = [];
  /** How often somebody connected. */
  connections = 0;
  /** Instead of the answers to the next messages. */
  readonly faults: Fault[] = [];
  /** Runs once, just before the next update that has changes. */
  beforeUpdate: (() => void) | undefined;

  private constructor(zone: string, key: TsigKey, now: () => number) {
    this.#zone = zone;
    this.#key = key;
    this.#now = now;
  }

  /** @param now  milliseconds since 1970 on its own clock */
  static async start(
    zone: string,
    key: TsigKey,
    now: () => number = Date.now,
  ): Promise<FakeUpdateServer> {
    const server = new FakeUpdateServer(zone, key, now);
    const data = Buffer.concat([nameBytes('ns'), nameBytes('root'), Buffer.alloc(20)]);
    server.#put({ name: zone, type: types.SOA, class: classes.IN, ttl: 60, data });
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** `name type value`, all but the zone's own. */
  get contents(): string[] {
    return [...this.#records.values()]
      .flat()
      .filter(({ type }) => type !== types.SOA)
      .map((record) => `${record.name} ${typeName(record.type)} ${shown(record)}`);
  }

  stop(): void {
    this.#server.close();
  }

  put(name: string, type: keyof typeof types, value: string, ttl = 60): void {
    this.delete(name, type);
    this.#put({ name, type: types[type], class: classes.IN, ttl, data: dataBytes(type, value) });
  }

  delete(name: string, type: keyof typeof types): void {
    this.#records.delete(`${name} ${types[type]}`);
  }

  #serve(socket: Socket): void {
    this.connections += 1;
    socket.on('error', () => socket.destroy());
    const read = frames((message) => {
      const answer = this.#answer(message);
      if (answer === 'hang-up') socket.destroy();
      else if (answer !== 'silence') socket.write(framed(answer));
    });
    socket.on('data', (chunk: Buffer) => read(chunk));
  }

  #answer(message: Buffer): Buffer | 'hang-up' | 'silence' {
    const fault = this.faults.shift();
    if (fault === 'silence') return 'silence';
    if (fault === 'hang-up') return 'hang-up';
    const request = requestIn(message);
    const error = this.#complaintAbout(message, fault);
    if (error !== undefined) return complaint(request, message, error);
    const isOwn = fault !== undefined && fault !== 'unsigned';
    const answers = isOwn || request.isUpdate ? [] : this.#found(request);
    const status = isOwn ? fault : this.#statusOf(request, answers);
    const answer = response(request, message, status, answers);
    if (fault === 'unsigned') return answer;
    return sign(answer, this.#key, this.#seconds, signatureIn(message)?.mac).signed;
  }

  get #seconds(): number {
    return Math.floor(this.#now() / 1000);
  }

  /** What is wrong with a signature, by number: truly, or because the test says so. */
  #complaintAbout(message: Buffer, fault: Fault | undefined): number | undefined {
    const { isSigned, error } = verify(message, this.#key, this.#seconds);
    if (!isSigned) return error === 18 ? 18 : 16;
    return [...tsigErrors].find(([, name]) => name === fault)?.[0];
  }

  #statusOf(request: Request, answers: readonly WireRecord[]): string {
    const isOurs = request.zone === this.#zone || request.zone.endsWith(`.${this.#zone}`);
    if (!request.isUpdate)
      return isOurs ? (answers.length > 0 ? 'NOERROR' : 'NXDOMAIN') : 'REFUSED';
    if (request.zone !== this.#zone) return 'NOTAUTH';
    if (request.updates.length > 0) {
      this.beforeUpdate?.();
      this.beforeUpdate = undefined;
    }
    const status = this.#judge(request);
    if (status === 'NOERROR') this.#apply(request);
    return status;
  }

  /** With wildcards, and the CNAME in the place of an address. */
  #found({ zone: name, questionType }: Request): WireRecord[] {
    const isThere = [...this.#records.values()].flat().some((record) => record.name === name);
    const at = isThere ? name : name.replace(/^[^.]+/, '*');
    const own = this.#records.get(`${at} ${questionType}`);
    const found = own ?? this.#records.get(`${at} ${types.CNAME}`) ?? [];
    return found.map((record) => ({ ...record, name }));
  }

  #judge({ prerequisites }: Request): string {
    const wanted = Map.groupBy(
      prerequisites.filter((one) => one.class === classes.IN),
      keyOf,
    );
    for (const [key, records] of wanted) {
      if (contentsOf(records) !== contentsOf(this.#records.get(key) ?? [])) return 'NXRRSET';
    }
    const forbidden = prerequisites.filter((one) => one.class === classes.NONE);
    return forbidden.some((one) => this.#records.has(keyOf(one))) ? 'YXRRSET' : 'NOERROR';
  }

  #apply({ updates }: Request): void {
    if (updates.length > 0) this.updates.push(updates.length);
    for (const record of updates) {
      if (record.class === classes.IN) this.#put(record);
      else this.#take(record);
    }
  }

  #put(record: WireRecord): void {
    this.#records.set(keyOf(record), [...(this.#records.get(keyOf(record)) ?? []), record]);
  }

  #take(record: WireRecord): void {
    const rest = (this.#records.get(keyOf(record)) ?? []).filter(
      ({ data }) => !data.equals(record.data),
    );
    if (rest.length > 0) this.#records.set(keyOf(record), rest);
    else this.#records.delete(keyOf(record));
  }
}

/** Names in requests are not compressed, so all of it can be read in its place. */
function requestIn(message: Buffer): Request {
  const [, prerequisites = 0, updates = 0] = [4, 6, 8].map((at) => message.readUInt16BE(at));
  const end = afterName(message, 12) + 4;
  const records: WireRecord[] = [];
  for (let at = end; records.length < prerequisites + updates;) {
    const head = afterName(message, at);
    const next = head + 10 + message.readUInt16BE(head + 8);
    records.push({
      name: nameAt(message, at),
      type: message.readUInt16BE(head),
      class: message.readUInt16BE(head + 2),
      ttl: message.readUInt32BE(head + 4),
      data: message.subarray(head + 10, next),
    });
    at = next;
  }
  return {
    isUpdate: ((message.readUInt8(2) >> 3) & 0x0f) === 5,
    zone: nameAt(message, 12),
    question: message.subarray(12, end),
    questionType: message.readUInt16BE(end - 4),
    prerequisites: records.slice(0, prerequisites),
    updates: records.slice(prerequisites),
  };
}

function response(
  { question, isUpdate }: Request,
  message: Buffer,
  status: string,
  answers: readonly WireRecord[],
): Buffer {
  const header = Buffer.alloc(12);
  message.copy(header, 0, 0, 2);
  const code = statuses.indexOf(status);
  header.writeUInt16BE(0x84_00 | (isUpdate ? 5 << 11 : 0) | code, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(answers.length, 6);
  return Buffer.concat([header, question, ...answers.map(recordBytes)]);
}

/** NOTAUTH with the signature's error, and without a digest: who has no key in common cannot sign (RFC 8945 §5.2). */
function complaint(request: Request, message: Buffer, error: number): Buffer {
  const answer = response(request, message, 'NOTAUTH', []);
  const data = Buffer.concat([nameBytes('hmac-sha256'), Buffer.alloc(16)]);
  data.writeUInt16BE(error, data.length - 4);
  const record = { name: 'somebody', type: types.TSIG, class: classes.ANY, ttl: 0, data };
  answer.writeUInt16BE(1, 10);
  return Buffer.concat([answer, recordBytes(record)]);
}

function keyOf({ name, type }: WireRecord): string {
  return `${name} ${type}`;
}

function contentsOf(records: readonly WireRecord[]): string {
  const all = records.map(({ data }) => data.toString('hex'));
  return all.toSorted().join();
}

function typeName(type: number): string {
  return Object.entries(types).find(([, number]) => number === type)?.[0] ?? String(type);
}

/** As it reads in a zone file. */
function shown(record: WireRecord): string {
  const header = Buffer.alloc(12);
  header.writeUInt16BE(1, 6);
  const [read] = answersIn(Buffer.concat([header, recordBytes(record)]));
  return valueOf(read as { data: unknown });
}
