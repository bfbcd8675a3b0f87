import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import type { ObjectMeta } from '#schemas/kubernetes/meta.ts';
import { pods } from '#schemas/kubernetes/resource.ts';

import { ShapeReader } from '../shapes/shape-reader.ts';
import { at, beside, message, text, word, type ObjectShape } from '../shapes/shape.ts';
import { framed, wrapped } from '../testing/protobuf-events.ts';
import { written, type Fields } from '../testing/protobuf-writer.ts';
import { refusal, ScriptedServer, ScriptedWatch } from '../testing/scripted-server.ts';
import type { ObjectReader, WatchEvent } from './client.ts';
import { ApiError, ConnectionError, MalformedAnswer } from './errors.ts';
import { UndiciKubeClient } from './undici-client.ts';

const protobuf = 'application/vnd.kubernetes.protobuf;stream=watch';
const pod = { apiVersion: 'v1', kind: 'Pod' };
const fields: Fields = {
  metadata: [
    1,
    {
      fields: {
        name: [1, 'text'],
        resourceVersion: [6, 'text'],
        annotations: [12, { map: 'text' }],
      },
    },
  ],
};
const status: Fields = {
  status: [2, 'text'],
  message: [3, 'text'],
  reason: [4, 'text'],
  code: [6, 'number'],
  details: [5, { fields: { retryAfterSeconds: [5, 'number'] } }],
};
const named = message<{ apiVersion?: string; kind?: string; metadata?: { name?: string } }>({
  apiVersion: beside(word),
  kind: beside(word),
  metadata: at(1, message<Pick<ObjectMeta, 'name'>>({ name: at(1, text) })),
});

let server: ScriptedServer;
let client: UndiciKubeClient;

beforeEach(async () => {
  server = await ScriptedServer.start();
  client = new UndiciKubeClient(server.connection);
});

afterEach(async () => {
  await client.close();
  await server[Symbol.asyncDispose]();
});

function start() {
  const reader: ObjectReader<never> = new ShapeReader(named as ObjectShape<never>);
  const events = client.watch(pods, { timeoutSeconds: 60, reader })[Symbol.asyncIterator]();
  return async (): Promise<WatchEvent<unknown> | undefined> => {
    const { value, done } = await events.next();
    return done ? undefined : value;
  };
}

const event = (type: string, metadata: object): Buffer =>
  framed(type, pod, written(fields, { metadata }));

describe('a watch whose reader knows what to keep', () => {
  test('asks for protobuf, and takes JSON where that is what it gets', async () => {
    const watch = new ScriptedWatch();
    server.script(watch.answer);
    const first = start()();
    await watch.send('ADDED', { ...pod, metadata: { name: 'web', uid: 'u' } });
    expect(await first).toEqual({ type: 'ADDED', object: { ...pod, metadata: { name: 'web' } } });
    expect(server.asked[0]?.headers.accept).toBe(
      'application/vnd.kubernetes.protobuf, application/json',
    );
  });

  test('reads events from frames, however they are cut', async () => {
    const watch = new ScriptedWatch(protobuf);
    server.script(watch.answer);
    const next = start();
    const first = next();
    const annotations = { 'k8s.io/initial-events-end': 'true' };
    const bytes = Buffer.concat([
      event('ADDED', { name: 'web', resourceVersion: '3' }),
      event('DELETED', { name: 'db' }),
      event('BOOKMARK', { resourceVersion: '7', annotations }),
    ]);
    await watch.write(bytes.subarray(0, 9));
    await watch.write(bytes.subarray(9));
    expect(await first).toEqual({ type: 'ADDED', object: { ...pod, metadata: { name: 'web' } } });
    expect(await next()).toEqual({ type: 'DELETED', object: { ...pod, metadata: { name: 'db' } } });
    const metadata = { resourceVersion: '7', annotations };
    expect(await next()).toEqual({ type: 'BOOKMARK', object: { ...pod, metadata } });
    await watch.end();
    expect(await next()).toBeUndefined();
  });

  test('hands on what the server says is wrong', async () => {
    const watch = new ScriptedWatch(protobuf);
    server.script(watch.answer);
    const first = start()();
    const said = { status: 'Failure', message: 'too old', reason: 'Expired', code: 410 };
    await watch.write(framed('ERROR', { apiVersion: 'v1', kind: 'Status' }, written(status, said)));
    const told = (await first)?.object;
    expect(told).toMatchObject(said);
    expect(ApiError.fromEvent({ verb: 'WATCH', path: 'pods' }, told)).toMatchObject({
      code: 410,
      reason: 'Expired',
    });
  });

  test.each([
    ['an object without its first bytes', Buffer.from([0, 0, 0, 2, 10, 0])],
    ['an event of a kind that does not exist', event('RENAMED', { name: 'web' })],
    ['a field that ends after its frame', Buffer.from([0, 0, 0, 2, 10, 9])],
    ['text', Buffer.from('{"type":"ADDED"}\n')],
  ])('%s is an error, never passed over', async (_, bytes) => {
    const watch = new ScriptedWatch(protobuf);
    server.script(watch.answer);
    const first = start()();
    await watch.write(bytes);
    await expect(first).rejects.toBeInstanceOf(MalformedAnswer);
    await watch.closed();
  });

  test('hands on what came whole before an error, and ends with it', async () => {
    const watch = new ScriptedWatch(protobuf);
    server.script(watch.answer);
    const next = start();
    const first = next();
    await watch.write(Buffer.concat([event('ADDED', { name: 'web' }), event('RENAMED', {})]));
    expect(await first).toMatchObject({ type: 'ADDED' });
    await expect(next()).rejects.toBeInstanceOf(MalformedAnswer);
    await watch.closed();
    expect(await next()).toBeUndefined();
  });

  test('that ends within an event is cut off', async () => {
    const watch = new ScriptedWatch(protobuf);
    server.script(watch.answer);
    const first = start()();
    await watch.write(event('ADDED', { name: 'web' }).subarray(0, 20));
    await watch.end();
    await expect(first).rejects.toBeInstanceOf(ConnectionError);
  });

  test('is refused in words, in either form', async () => {
    server.script(refusal(403, 'Forbidden', { message: 'pods is forbidden' }));
    await expect(start()()).rejects.toThrow('pods is forbidden');

    const said = { status: 'Failure', message: 'pods are too many', reason: 'TooManyRequests' };
    const details = { retryAfterSeconds: 3 };
    const body = wrapped(
      { apiVersion: 'v1', kind: 'Status' },
      written(status, { ...said, details }),
    );
    server.script((response) => {
      response.writeHead(429, { 'content-type': 'application/vnd.kubernetes.protobuf' });
      response.end(body);
    });
    const refused = start()();
    await expect(refused).rejects.toThrow('pods are too many (429 TooManyRequests)');
    await expect(refused).rejects.toMatchObject({ code: 429, retryAfter: 3000 });
  });

  test('is refused by its code alone where nobody can read the words', async () => {
    server.script((response) => {
      response.writeHead(410, { 'content-type': 'application/vnd.kubernetes.protobuf' });
      response.end('no message');
    });
    await expect(start()()).rejects.toMatchObject({ code: 410, text: 'HTTP 410' });
  });
});

test('a stream that comes faster than it is read lets others have their turn', async () => {
  const watch = new ScriptedWatch();
  server.script(watch.answer);
  const events = client.watch(pods, { timeoutSeconds: 60 })[Symbol.asyncIterator]();
  const first = events.next();
  const line = `${JSON.stringify({ type: 'ADDED', object: { note: 'x'.repeat(4000) } })}\n`;
  const written = watch.write(line.repeat(1000));
  await first;
  let turns = 0;
  const count = (): void => {
    turns += 1;
    turning = setImmediate(count);
  };
  let turning = setImmediate(count);
  for (let read = 1; read < 1000; read++) await events.next(); // oxlint-disable-line no-await-in-loop -- in order
  clearImmediate(turning);
  await written;
  expect(turns).toBeGreaterThanOrEqual(12); // 4 MB by 256 kB, and the first was read before
});
