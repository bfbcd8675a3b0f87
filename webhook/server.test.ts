import { gzipSync } from 'node:zlib';

import { describe, expect, test } from 'vitest';

import { silentLogger, type Logger } from '#kube/log.ts';
import { Metrics } from '#kube/metrics.ts';
import { capacityType, pool } from '#schemas/rules/samples.ts';

import { admissionServer, type Decide } from './server.ts';
import { Served } from './testing/served.ts';

function reviewOf(kind: string, object: object | null, more: object = {}): object {
  const group = kind === 'Pod' ? '' : 'karpenter.sh';
  const request = { uid: 'u-1', kind: { group, version: 'v1', kind }, operation: 'CREATE', object };
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: { ...request, ...more },
  };
}

const pod = {
  metadata: { labels: { 'karpenter.unikraft.com/inject': 'true' } },
  spec: { containers: [] },
};

interface World extends AsyncDisposable {
  readonly served: Served;
  readonly metrics: Metrics;
  readonly logged: object[];
}

async function world(hooks?: Record<string, Decide>): Promise<World> {
  const metrics = new Metrics();
  const logged: object[] = [];
  const note = (facts: object): void => void logged.push(facts);
  const log: Logger = { ...silentLogger, info: note, warn: note, error: note };
  const ticks = [0, 0.25].values(); // milliseconds
  const stopwatch = (): number => ticks.next().value ?? 1;
  const app = admissionServer({ log, metrics, stopwatch, ...(hooks && { hooks }) });
  const served = await Served.start(app);
  return {
    served,
    metrics,
    logged,
    [Symbol.asyncDispose]: async () => served[Symbol.asyncDispose](),
  };
}

describe('a review is answered over TLS', () => {
  test('with a patch for a Pod', async () => {
    await using here = await world();
    const { status, headers, text } = await here.served.call('/mutate/pods?timeout=2s', {
      body: reviewOf('Pod', pod),
    });
    expect(status).toBe(200);
    expect(headers['content-type']).toContain('application/json');
    expect(JSON.parse(text)).toMatchObject({
      kind: 'AdmissionReview',
      response: { uid: 'u-1', allowed: true, patchType: 'JSONPatch' },
    });
  });

  test('with a refusal for a pool, which is logged without the object', async () => {
    await using here = await world();
    const bad = pool([capacityType('In', 'spot')]);
    const { status, text } = await here.served.call('/validate', {
      body: reviewOf('NodePool', bad),
    });
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ response: { allowed: false, status: { code: 422 } } });
    expect(here.logged).toMatchObject([{ uid: 'u-1', because: expect.stringContaining('KPU101') }]);
    expect(JSON.stringify(here.logged)).not.toContain('nodeClassRef');
  });

  test('also for a deletion, which has no object', async () => {
    await using here = await world();
    const body = reviewOf('NodePool', null, { operation: 'DELETE', oldObject: pool([]) });
    const replies = ['/validate', '/mutate/pods'].map(async (path) =>
      here.served.call(path, { body }),
    );
    for (const { text } of await Promise.all(replies)) {
      expect(JSON.parse(text)).toMatchObject({ response: { uid: 'u-1', allowed: true } });
    }
  });

  test('with two objects of 3 MiB, as an update of a large one has', async () => {
    await using here = await world();
    const large = { ...pool([]), data: 'x'.repeat(3 * 1024 * 1024) };
    const body = reviewOf('NodePool', large, { operation: 'UPDATE', oldObject: large });
    expect((await here.served.call('/validate', { body })).status).toBe(200);
  });

  test('and the time that it took is counted in fractions of a millisecond', async () => {
    await using here = await world();
    await here.served.call('/mutate/pods', { body: reviewOf('Pod', pod) });
    const text = await here.metrics.text();
    const series = 'karpenter_unikraft_webhook_duration_seconds';
    const labels = 'path="/mutate/pods",outcome="patched"';
    expect(text).toContain(`${series}_sum{${labels}} 0.00025`);
    expect(text).toContain(`${series}_count{${labels}} 1`);
  });
});

describe('what cannot be answered is refused, and the server lives on', () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  const review = JSON.stringify(reviewOf('Pod', pod));

  test.each<[string, number, string, Parameters<Served['call']>[1]]>([
    ['no review', 400, '/validate', { body: { kind: 'NodePool' } }],
    ['no JSON', 400, '/validate', { body: '{"kind": "AdmissionReview", "secret": hunter2' }],
    ['no body', 400, '/validate', {}],
    ['a bare null', 400, '/mutate/pods', { body: 'null' }],
    ['brackets without end', 400, '/mutate/pods', { body: deep }],
    [
      'no request',
      400,
      '/mutate/pods',
      { body: { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' } },
    ],
    ['a form', 400, '/validate', { body: review, headers: { 'content-type': 'text/plain' } }],
    ['8 MiB', 413, '/validate', { body: Buffer.alloc(8 * 1024 * 1024, 0x20) }],
    [
      'a bomb',
      413,
      '/validate',
      { body: gzipSync(Buffer.alloc(64 * 1024 * 1024)), headers: { 'content-encoding': 'gzip' } },
    ],
    [
      'an unknown encoding',
      415,
      '/validate',
      { body: review, headers: { 'content-encoding': 'zstd9' } },
    ],
    ['a look', 405, '/validate', { method: 'GET' }],
    ['another hook', 404, '/validate/', { body: review }],
    ['another spelling', 404, '/Validate', { body: review }],
    ['the name of a method', 404, '/constructor', { body: review }],
    ['a broken path', 404, '/%E0%A4%A', { body: review }],
  ])('%s: %d', async (_, status, path, call) => {
    await using here = await world();
    const reply = await here.served.call(path, call);
    expect(reply.status).toBe(status);
    expect(JSON.parse(reply.text)).toEqual({ error: expect.any(String) });
    expect(reply.text + JSON.stringify(here.logged)).not.toContain('hunter2');
    const after = await here.served.call('/mutate/pods', { body: review });
    expect(after.status).toBe(200);
  });

  test('a review whose object is nested without end', async () => {
    await using here = await world();
    const object = `{"apiVersion":"karpenter.sh/v1","kind":"NodePool","spec":${deep}}`;
    const body = JSON.stringify(reviewOf('NodePool', null)).replace(
      '"object":null',
      `"object":${object}`,
    );
    const { status } = await here.served.call('/validate', { body });
    expect(status).toBe(200);
  });

  test('is counted by paths that there are, however many are invented', async () => {
    await using here = await world();
    await here.served.call('/validate?at=%E0%A4%A', { body: 'x' });
    await here.served.call('/%E0%A4%A');
    await here.served.call('/invented');
    const text = await here.metrics.text();
    const series = 'karpenter_unikraft_webhook_failures_total';
    expect(text.split('\n').filter((line) => line.startsWith(series))).toEqual([
      `${series}{path="/validate",status="400"} 1`,
    ]);
  });
});

test('a mistake of ours is no fault of the caller: 500 with the uid, and the cause in the log alone', async () => {
  const mistaken: Decide = () => {
    throw new TypeError('cannot read hunter2');
  };
  await using here = await world({ '/validate': mistaken });
  const { status, text } = await here.served.call('/validate', { body: reviewOf('NodePool', pod) });
  expect(status).toBe(500);
  expect(JSON.parse(text)).toEqual({ error: 'internal error', uid: 'u-1' });
  expect(here.logged).toMatchObject([
    { uid: 'u-1', path: '/validate', err: { cause: TypeError.prototype } },
  ]);
});
