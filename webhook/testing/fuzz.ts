import { connect } from 'node:tls';

import type { Served } from './served.ts';

export interface FuzzReport {
  readonly calls: number;
  /** How often each status was answered; `none`: the connection ended without an answer, see `isWhole`. */
  readonly answers: Readonly<Record<string, number>>;
  /** Answers that are neither a refusal of the caller (4xx) nor a review for the uid that was asked, with their bytes. */
  readonly odd: readonly string[];
  /** Whether a proper review is answered once all is over. */
  readonly lives: boolean;
}

/** A number in [0, 1), the same ones for the same seed (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Sends what no API server would send, as raw bytes over TLS, until the time is over. */
export async function fuzz(
  served: Served,
  { seed, until }: { readonly seed: number; readonly until: () => boolean },
): Promise<FuzzReport> {
  const random = randomNumbers(seed);
  const answers: Record<string, number> = {};
  const odd: string[] = [];
  const tls: { session?: Buffer } = {};
  const one = async (): Promise<void> => {
    while (!until()) {
      const sent = requestBytes(random);
      const text = await exchange(served, sent, tls); // oxlint-disable-line no-await-in-loop -- four at a time
      const [, status = 'none'] = /^HTTP\/1\.1 (\d{3}) /.exec(text) ?? [];
      answers[status] = (answers[status] ?? 0) + 1;
      if (!isProper(status, text, sent)) odd.push(`${sent.toString('latin1')}\n=> ${text}`);
    }
  };
  await Promise.all([one(), one(), one(), one()]);
  const calls = Object.values(answers).reduce((sum, count) => sum + count, 0);
  return { calls, answers, odd, lives: await answersProperly(served) };
}

async function answersProperly(served: Served): Promise<boolean> {
  const request = { uid: 'last', kind: { group: '', version: 'v1', kind: 'Pod' } };
  const review = { apiVersion, kind, request: { ...request, operation: 'CREATE', object: {} } };
  const { status, text } = await served.call('/validate', { body: review });
  return status === 200 && text.includes('"uid":"last","allowed":true');
}

const apiVersion = 'admission.k8s.io/v1';
const kind = 'AdmissionReview';

function isProper(status: string, text: string, sent: Buffer): boolean {
  if (status === 'none') return text === '' && !isWhole(sent);
  if (status !== '200') return status.startsWith('4');
  try {
    const body = JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4)) as {
      response?: { uid?: unknown; allowed?: unknown };
    };
    const { uid, allowed } = body.response ?? {};
    return typeof uid === 'string' && uid !== '' && typeof allowed === 'boolean';
  } catch {
    return false;
  }
}

/**
 * Whether somebody who sends this may count on an answer: not to a body that never comes as it was announced, and not to
 * CONNECT, which is no request of an admission server and ends the connection.
 */
function isWhole(sent: Buffer): boolean {
  const [head = '', ...rest] = sent.toString('latin1').split('\r\n\r\n');
  const [, method = '', length = ''] =
    /^(\w+) \S+ HTTP\/1\.1\r\n[^]*^content-length: (\d+)$/m.exec(head) ?? [];
  return length !== '' && method !== 'CONNECT' && rest.join('\r\n\r\n').length >= Number(length);
}

/** Sends all, says that no more will come, and takes what is answered. */
async function exchange(
  { port, ca }: Served,
  bytes: Buffer,
  tls: { session?: Buffer },
): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const socket = connect({ host: '127.0.0.1', port, ca, servername: 'webhook.test.svc', ...tls });
  socket.once('session', (session: Buffer) => (tls.session = session)); // spares most of the next handshake
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.on('error', () => {}); // a reset is an end like others: what counts is what was answered
  socket.once('close', () => resolve());
  socket.end(bytes);
  await promise;
  return Buffer.concat(chunks).toString('utf8');
}

type Random = () => number;

function pick<T>(random: Random, items: readonly [T, ...T[]]): T {
  return items[Math.floor(random() * items.length)] ?? items[0];
}

function requestBytes(random: Random): Buffer {
  if (random() < 0.05) return noise(random, 200);
  const mostly = <T>(usual: T, ...others: [T, ...T[]]): T =>
    random() < 0.9 ? usual : pick(random, others);
  const body = bodyBytes(random);
  const other = Math.floor(random() * 2 * body.length);
  const length = `content-length: ${body.length}`;
  const head = [
    `${mostly('POST', 'GET', 'post', 'PUT', 'CONNECT')} ${path(random)} HTTP/1.1`,
    'host: webhook.test.svc',
    `content-type: ${mostly('application/json', 'application/json; charset=utf-8', 'text/plain', '')}`,
    mostly(length, `content-length: ${other}`, 'transfer-encoding: chunked', 'content-length: -1'),
    'connection: close',
    ...mostly<string[]>([], [noise(random, 60).toString('latin1')]),
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), body]);
}

function path(random: Random): string {
  const known = pick(random, ['/mutate/pods', '/mutate/pods-of-namespace', '/validate']);
  if (random() < 0.9) return `${known}?timeout=10s`;
  return pick(random, [
    `${known}/`,
    '/',
    '/%00',
    '/__proto__',
    '//validate',
    `${known}?timeout=%ZZ`,
    '/../validate',
  ]);
}

/** A review with a few bytes changed, cut or doubled, or one of odd parts, or noise. */
function bodyBytes(random: Random): Buffer {
  const kind = random();
  if (kind < 0.1) return noise(random, 500);
  const review = Buffer.from(reviewText(random));
  if (kind < 0.4) return review;
  for (let changes = Math.ceil(random() * 4); changes > 0; changes--) {
    review[Math.floor(random() * review.length)] = Math.floor(random() * 256);
  }
  const [from, to] = [random() * review.length, random() * review.length];
  return kind < 0.8 ? review : Buffer.concat([review.subarray(0, from), review.subarray(to)]);
}

function reviewText(random: Random): string {
  const pod = { metadata: value(random, 0), spec: value(random, 0), kind: 'Pod', apiVersion: 'v1' };
  const pool = {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: {},
    spec: value(random, 0),
  };
  const object = pick<unknown>(random, [pod, pod, pool, value(random, 0)]);
  const operation = pick(random, ['CREATE', 'CREATE', 'UPDATE', 'DELETE', 'CONNECT']);
  const of = {
    group: pick(random, ['', 'karpenter.sh']),
    version: 'v1',
    kind: pick(random, ['Pod', 'NodePool']),
  };
  const request = {
    uid: 'u-1',
    kind: of,
    operation,
    object,
    oldObject: random() < 0.5 ? object : null,
  };
  return JSON.stringify({ apiVersion, kind, request }).replaceAll('"__P__"', '"__proto__"');
}

const names: readonly [string, ...string[]] = [
  'labels',
  'annotations',
  'tolerations',
  'nodeSelector',
  'ownerReferences',
  'template',
  'spec',
  'requirements',
  'nodeClassRef',
  'group',
  'kind',
  'key',
  'operator',
  'values',
  'value',
  'effect',
  'nodeName',
  'os',
  'name',
  '__P__',
  'constructor',
  'toString',
  'karpenter.unikraft.com/inject',
  'unikraft.com/virtual-kubelet',
  'virtual-kubelet.io/provider',
];

function value(random: Random, depth: number): unknown {
  const kind = depth > 5 ? 0 : random();
  if (kind < 0.25) {
    return pick<unknown>(random, [
      null,
      true,
      '',
      'true',
      'false',
      'ukc',
      0,
      -1,
      1e308,
      2 ** 53,
      'karpenter.unikraft.com',
      'UnikraftNodeClass',
      '\ud800',
    ]);
  }
  const items = Array.from({ length: Math.floor(random() * 4) }, () => value(random, depth + 1));
  if (kind < 0.4) return items;
  return Object.fromEntries(items.map((item) => [pick(random, names), item]));
}

function noise(random: Random, longest: number): Buffer {
  return Buffer.from(Array.from({ length: Math.ceil(random() * longest) }, () => random() * 256));
}
