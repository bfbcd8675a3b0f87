import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import type { Node, Pod } from '#schemas/kubernetes/core.ts';
import { nodes, pods } from '#schemas/kubernetes/resource.ts';
import { seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import {
  hangUp,
  json,
  refusal,
  ScriptedServer,
  ScriptedWatch,
} from '../testing/scripted-server.ts';
import type { WatchEvent } from './client.ts';
import {
  ApiError,
  ConnectionError,
  isNotFound,
  isTooManyRequests,
  MalformedAnswer,
} from './errors.ts';
import { UndiciKubeClient } from './undici-client.ts';

const web = { namespace: 'default', name: 'web' };
const pod = { metadata: { ...web, uid: 'u1', resourceVersion: '7' } };

let server: ScriptedServer;
let client: UndiciKubeClient;
let clock: FakeClock;

beforeEach(async () => {
  server = await ScriptedServer.start();
  clock = new FakeClock();
  client = new UndiciKubeClient(server.connection, { clock, random: () => 0.5 });
});

afterEach(async () => {
  await client.close();
  await server[Symbol.asyncDispose]();
});

/** Moves the clock until `call` has settled: retries wait on it, sockets do not. */
async function settled<T>(call: Promise<T>, step = seconds(1)): Promise<T> {
  let pending = true;
  const done = call.finally(() => (pending = false));
  done.catch(() => {});
  while (pending) {
    // oxlint-disable-next-line no-await-in-loop -- time goes on in steps
    await clock.forward(step);
  }
  return done;
}

describe('calls', () => {
  test('two hundred reads share a connection or two', async () => {
    server.otherwise(json(pod));
    for (let i = 0; i < 200; i++) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other is the point
      await client.get(pods, web);
    }
    expect(server.asked).toHaveLength(200);
    expect(server.connections).toBeLessThanOrEqual(2);
  });

  test('a field of a newer API server survives a read and a write', async () => {
    const future = { ...pod, spec: { warpDrive: { at: '2026-01-01T00:00:00.123456Z' } } };
    server.script(json(future), (response, { body }) => json(body)(response, server.asked[0]!));
    const read = await client.get<Node>(nodes, { name: 'web' });
    const written = await client.replace(nodes, read);
    expect(written).toMatchObject(future);
    expect(server.asked[1]?.query.get('fieldManager')).toBe('karpenter-provider-unikraft');
  });

  test('each patch has its media type, and apply says who and whether by force', async () => {
    server.otherwise(json(pod));
    await client.patch(pods, web, { type: 'merge', body: {} });
    await client.patch(pods, web, { type: 'strategic', body: {} });
    await client.patch(pods, web, { type: 'json', body: [] }, { subresource: 'status' });
    await client.patch(pods, web, { type: 'apply', body: {}, force: true }, { fieldManager: 'me' });
    expect(server.asked.map(({ headers }) => headers['content-type'])).toEqual([
      'application/merge-patch+json',
      'application/strategic-merge-patch+json',
      'application/json-patch+json',
      'application/apply-patch+yaml',
    ]);
    expect(server.asked[2]?.path).toBe('/api/v1/namespaces/default/pods/web/status');
    expect(server.asked[3]?.query.toString()).toBe('fieldManager=me&force=true');
  });

  test('a create says what it makes, even when the caller does not', async () => {
    server.otherwise(json(pod, 201));
    await client.create<Pod>(pods, { metadata: web }, { dryRun: true });
    expect(server.asked[0]).toMatchObject({
      method: 'POST',
      path: '/api/v1/namespaces/default/pods',
      body: { apiVersion: 'v1', kind: 'Pod', metadata: web },
    });
    expect(server.asked[0]?.query.get('dryRun')).toBe('All');
    await expect(client.create<Pod>(pods, { metadata: { name: 'x' } })).rejects.toThrow(
      'needs metadata.namespace',
    );
  });

  test('a delete carries its preconditions', async () => {
    server.otherwise(json({ kind: 'Status', status: 'Success' }));
    await client.delete(pods, web, { uid: 'u1', gracePeriodSeconds: 0 });
    expect(server.asked[0]).toMatchObject({
      method: 'DELETE',
      body: { kind: 'DeleteOptions', preconditions: { uid: 'u1' }, gracePeriodSeconds: 0 },
    });
  });

  test('an eviction goes to its subresource', async () => {
    server.otherwise(json({ kind: 'Status', status: 'Success' }, 201));
    await client.createSubresource(pods, web, 'eviction', { kind: 'Eviction' });
    expect(server.asked[0]?.path).toBe('/api/v1/namespaces/default/pods/web/eviction');
  });

  test('a refusal is typed and names the request', async () => {
    server.otherwise(refusal(404, 'NotFound', { message: 'no such Pod' }, { 'audit-id': 'a-17' }));
    const error = await client.get(pods, web).catch((e: unknown) => e);
    expect(isNotFound(error)).toBe(true);
    expect(error).toMatchObject({ requestId: 'a-17', verb: 'GET' });
  });

  test('a path that does not exist is undefined, a text is a text', async () => {
    server.script(refusal(404, 'NotFound'), json({ major: '1' }), (response) => response.end('ok'));
    expect(await client.raw('/apis/karpenter.sh/v1')).toBeUndefined();
    expect(await client.raw('/version')).toEqual({ major: '1' });
    expect(await client.raw('/readyz')).toBe('ok');
  });

  test('an answer that is not JSON is its own error', async () => {
    server.otherwise((response) => response.end('<html>'));
    await expect(client.get(pods, web)).rejects.toBeInstanceOf(MalformedAnswer);
  });
});

describe('lists', () => {
  const page = (names: string[], next?: string) =>
    json({
      kind: 'PodList',
      metadata: { resourceVersion: '9', continue: next },
      items: names.map((name) => ({ metadata: { name } })),
    });

  test('all pages are read, and each item says what it is', async () => {
    server.script(page(['a', 'b'], 'next'), page(['c']));
    const list = await client.list(pods, { labelSelector: 'x=y', resourceVersion: '0' });
    expect(list.items.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
      'Pod a',
      'Pod b',
      'Pod c',
    ]);
    expect(list.metadata.resourceVersion).toBe('9');
    const [first, second] = server.asked.map(({ query }) => Object.fromEntries(query));
    expect(first).toEqual({ labelSelector: 'x=y', limit: '500', resourceVersion: '0' });
    expect(second).toEqual({ labelSelector: 'x=y', limit: '500', continue: 'next' });
  });

  test('a caller may read page by page', async () => {
    server.script(page(['a'], 'next'), page(['b']));
    const first = await client.list(pods, { onePage: true, pageSize: 1 });
    const second = await client.list(pods, { onePage: true, continue: first.metadata.continue! });
    expect([...first.items, ...second.items].map(({ metadata }) => metadata.name)).toEqual([
      'a',
      'b',
    ]);
  });

  test('a continue token that has grown too old is answered by one whole list', async () => {
    server.script(page(['a'], 'next'), refusal(410, 'Expired'), page(['a', 'b']));
    const list = await client.list(pods);
    expect(list.items).toHaveLength(2);
    expect(server.asked[2]?.query.has('limit')).toBe(false);
  });
});

describe('retries', () => {
  test('a busy server is asked again when it says, even for a create', async () => {
    const busy = refusal(429, 'TooManyRequests', {}, { 'retry-after': '7' });
    server.script(busy, busy, json(pod, 201));
    const started = clock.now();
    await settled(client.create<Pod>(pods, { metadata: web }));
    expect(server.asked).toHaveLength(3);
    expect(clock.now() - started).toBeGreaterThanOrEqual(seconds(14));
  });

  test('a server that stays busy is given back to the caller, who has a back-off of its own', async () => {
    server.otherwise(refusal(429, 'TooManyRequests', {}, { 'retry-after': '1' }));
    const error = await settled(client.get(pods, web).catch((e: unknown) => e));
    expect(isTooManyRequests(error)).toBe(true);
    expect(server.asked).toHaveLength(5);
  });

  test('an eviction that a budget forbids is not asked again', async () => {
    const details = { causes: [{ reason: 'DisruptionBudget' }], retryAfterSeconds: 10 };
    server.otherwise(refusal(429, 'TooManyRequests', { details }, { 'retry-after': '10' }));
    const error = await client
      .createSubresource(pods, web, 'eviction', {})
      .catch((e: unknown) => e);
    expect(isTooManyRequests(error)).toBe(true);
    expect(server.asked).toHaveLength(1);
  });

  test('a read over a broken connection is made again, a create is not', async () => {
    server.script(hangUp, json(pod), hangUp);
    await settled(client.get(pods, web));
    await expect(client.create<Pod>(pods, { metadata: web })).rejects.toBeInstanceOf(
      ConnectionError,
    );
    expect(server.asked.map(({ method }) => method)).toEqual(['GET', 'GET', 'POST']);
  });

  test('adding by JSON patch is not repeated over a broken connection', async () => {
    server.script(hangUp);
    const body = [{ op: 'add' as const, path: '/spec/list/-', value: 1 }];
    await expect(client.patch(pods, web, { type: 'json', body })).rejects.toBeInstanceOf(
      ConnectionError,
    );
    expect(server.asked).toHaveLength(1);
  });

  test('a server that cannot be reached ends as a connection error after a few tries', async () => {
    const { connection } = server;
    await server[Symbol.asyncDispose]();
    const lost = new UndiciKubeClient(connection, { clock, random: () => 0.5 });
    const error = await settled(lost.create<Pod>(pods, { metadata: web }).catch((e: unknown) => e));
    expect(error).toMatchObject({ name: 'ConnectionError', code: 'ECONNREFUSED' });
    server = await ScriptedServer.start();
  });

  test('a caller who gives up gets its own reason, also while waiting to try again', async () => {
    server.otherwise(refusal(503, 'ServiceUnavailable', {}, { 'retry-after': '20' }));
    const abort = new AbortController();
    const call = client.get(pods, web, { signal: abort.signal });
    while (clock.waiting === 0) {
      // oxlint-disable-next-line no-await-in-loop -- until the refusal has arrived
      await new Promise((resolve) => setImmediate(resolve));
    }
    abort.abort(new Error('lost the lease'));
    await expect(call).rejects.toThrow('lost the lease');
  });

  test('a token that was replaced is read anew once', async () => {
    const unauthorized = refusal(401, 'Unauthorized');
    server.script((response, asked) => {
      server.token = 'second';
      unauthorized(response, asked);
    }, json(pod));
    await client.get(pods, web);
    expect(server.asked.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer first',
      'Bearer second',
    ]);
    server.otherwise(unauthorized);
    await expect(client.get(pods, web)).rejects.toMatchObject({ code: 401 });
    expect(server.asked).toHaveLength(4);
  });
});

describe('watches', () => {
  const start = (options = {}) =>
    client.watch(nodes, { timeoutSeconds: 300, ...options })[Symbol.asyncIterator]();
  const next = async (events: AsyncIterator<WatchEvent<Node>>) => (await events.next()).value;

  test('asks for bookmarks and a timeout, and for the present state when it is wanted', async () => {
    const watch = new ScriptedWatch();
    server.script(watch.answer);
    const events = start({ sendInitialEvents: true });
    const first = next(events);
    await watch.send('ADDED', pod);
    expect(await first).toEqual({ type: 'ADDED', object: pod });
    expect(Object.fromEntries(server.asked[0]!.query)).toEqual({
      watch: 'true',
      allowWatchBookmarks: 'true',
      timeoutSeconds: '300',
      sendInitialEvents: 'true',
      resourceVersionMatch: 'NotOlderThan',
    });
    await watch.end();
    expect(await events.next()).toMatchObject({ done: true });
  });

  test('a character that is cut in two by the network arrives whole', async () => {
    const watch = new ScriptedWatch();
    server.script(watch.answer);
    const first = next(start());
    const bytes = Buffer.from(
      `${JSON.stringify({ type: 'ADDED', object: { note: 'Gerät 🚀' } })}\n`,
    );
    const middle = bytes.indexOf(Buffer.from('🚀')) + 2;
    await watch.write(bytes.subarray(0, middle));
    await new Promise((resolve) => setImmediate(resolve));
    await watch.write(bytes.subarray(middle));
    expect(await first).toMatchObject({ object: { note: 'Gerät 🚀' } });
  });

  test.each(['{"type":"ADDED","obj', '{"type":"ADDED"}', '[]', 'null'])(
    'the malformed line %s is an error, never passed over',
    async (line) => {
      const watch = new ScriptedWatch();
      server.script(watch.answer);
      const first = next(start());
      await watch.write(`${line}\n`);
      await expect(first).rejects.toBeInstanceOf(MalformedAnswer);
      await watch.closed();
    },
  );

  test('a watch that is cut off is an error, one that ends is not', async () => {
    const watch = new ScriptedWatch();
    server.script(watch.answer);
    const events = start();
    const first = next(events);
    await watch.send('BOOKMARK', pod);
    await first;
    const second = next(events);
    await watch.cut();
    await expect(second).rejects.toBeInstanceOf(ConnectionError);
  });

  test('a refused watch is refused at once: who watches knows from where to go on', async () => {
    server.script(refusal(503, 'ServiceUnavailable', {}, { 'retry-after': '1' }));
    await expect(next(start())).rejects.toBeInstanceOf(ApiError);
    expect(server.asked).toHaveLength(1);
  });

  test('its reader ends it by the signal or by stopping to read', async () => {
    const [one, two] = [new ScriptedWatch(), new ScriptedWatch()];
    server.script(one.answer, two.answer);
    const abort = new AbortController();
    const first = next(start({ signal: abort.signal }));
    await one.opened();
    abort.abort(new Error('enough'));
    await expect(first).rejects.toThrow('enough');
    await one.closed();

    const events = start();
    const second = next(events);
    await two.send('ADDED', pod);
    await second;
    await events.return?.();
    await two.closed();
  });
});
