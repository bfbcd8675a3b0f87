import { gzipSync } from 'node:zlib';

import { describe, expect, test } from 'vitest';

import { silentLogger, type Logger } from '#kube/log.ts';
import { Metrics } from '#kube/metrics.ts';
import { capacityType, pool } from '#schemas/rules/samples.ts';
import { milliseconds, type Clock } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

import { Gate } from './gate.ts';
import { hooks, type Decide, type Hooks } from './hooks.ts';
import { Notes } from './notes.ts';
import { admissionServer } from './server.ts';
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

interface Changes {
  readonly hooks?: Hooks;
  readonly clock?: Clock;
  readonly gate?: Gate;
  readonly notesAtOnce?: number;
}

async function world(changes: Changes = {}): Promise<World> {
  const metrics = new Metrics();
  const logged: object[] = [];
  const note = (facts: object): void => void logged.push(facts);
  const log: Logger = { ...silentLogger, info: note, warn: note, error: note };
  const ticks = [0, 0.25].values(); // milliseconds
  const stopwatch = (): number => ticks.next().value ?? 1;
  const usual = { clock: new SystemClock(), hooks: hooks({ excludedNamespaces: ['kube-system'] }) };
  const notes = new Notes(new SystemClock(), changes.notesAtOnce ?? 1);
  const app = admissionServer({ log, metrics, stopwatch, notes, ...usual, ...changes });
  const served = await Served.start(app);
  return {
    served,
    metrics,
    logged,
    [Symbol.asyncDispose]: async () => served[Symbol.asyncDispose](),
  };
}

const alone = (path: string, decide: Decide, sheds = true): Hooks => ({
  [path]: { decide, sheds },
});

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
    expect(here.logged).toMatchObject([
      { uid: 'u-1', kind: 'NodePool', because: expect.stringContaining('KPU101') },
    ]);
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

  test('B15: with two objects of 3 MiB, as an update of a large one has', async () => {
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

describe('A2, A11: what cannot be answered is refused, and the server lives on', () => {
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
    ['a form', 415, '/validate', { body: review, headers: { 'content-type': 'text/plain' } }],
    ['8 MiB', 413, '/validate', { body: Buffer.alloc(8 * 1024 * 1024, 0x20) }],
    [
      '8 MiB of unknown length',
      413,
      '/validate',
      { body: Buffer.alloc(8 << 20, 0x20), headers: { 'transfer-encoding': 'chunked' } },
    ],
    ['no length', 400, '/validate', { body: '{', headers: { 'transfer-encoding': 'chunked' } }],
    [
      'a type that begins alike',
      415,
      '/validate',
      { body: review, headers: { 'content-type': 'application/jsonx' } },
    ],
    [
      'Latin-1',
      415,
      '/validate',
      { body: review, headers: { 'content-type': 'application/json; charset=latin1' } },
    ],
    ['a byte order mark', 400, '/validate', { body: `\uFEFF${review}` }],
    [
      'a bomb',
      415,
      '/validate',
      { body: gzipSync(Buffer.alloc(64 * 1024 * 1024)), headers: { 'content-encoding': 'gzip' } },
    ],
    [
      'an unknown encoding',
      415,
      '/validate',
      { body: review, headers: { 'content-encoding': 'zstd9' } },
    ],
    ['a million nothings', 413, '/validate', { body: `[${'{},'.repeat(1_000_000)}0]` }],
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

test('A5: a mistake of ours is no fault of the caller: 500 with the uid, and the cause in the log alone', async () => {
  const mistaken: Decide = () => {
    throw new TypeError('cannot read hunter2');
  };
  await using here = await world({ hooks: alone('/validate', mistaken) });
  const { status, text } = await here.served.call('/validate', { body: reviewOf('NodePool', pod) });
  expect(status).toBe(500);
  expect(JSON.parse(text)).toEqual({ error: 'internal error', uid: 'u-1' });
  expect(here.logged).toMatchObject([{ uid: 'u-1', path: '/validate', err: TypeError.prototype }]);
});

describe('what is logged', () => {
  test('B4: of a Pod that was patched: who and where, with the trace it belongs to, and no object', async () => {
    await using here = await world();
    const traceparent = `00-${'4bf92f3577b34da6'.repeat(2)}-00f067aa0ba902b7-01`;
    const nameless = { ...pod, metadata: { ...pod.metadata, generateName: 'web-' } };
    const body = reviewOf('Pod', nameless, { namespace: 'team', dryRun: true });
    await here.served.call('/mutate/pods', { body, headers: { traceparent } });
    const trace = traceparent.slice(3, 35);
    expect(here.logged).toEqual([
      {
        at: expect.stringMatching(/^20.*Z$/) as string,
        path: '/mutate/pods',
        trace,
        uid: 'u-1',
        namespace: 'team',
        generateName: 'web-',
        dryRun: true,
      },
    ]);
  });

  test.each(['', 'x', '00-1-2-3'])(
    'a trace header that is none is no trace: %j',
    async (traceparent) => {
      await using here = await world();
      await here.served.call('/mutate/pods', {
        body: reviewOf('Pod', pod),
        headers: { traceparent },
      });
      expect(here.logged).toMatchObject([{ uid: 'u-1' }]);
      expect(here.logged[0]).not.toHaveProperty('trace');
    },
  );

  test('of what passes as it is: nothing', async () => {
    await using here = await world();
    await here.served.call('/mutate/pods', { body: reviewOf('Pod', { spec: {} }) });
    await here.served.call('/validate', { body: reviewOf('NodePool', pool([])) });
    expect(here.logged).toEqual([]);
  });
});

describe('a call is answered before its caller gives up', () => {
  test('when its body does not come', async () => {
    const clock = new FakeClock();
    await using here = await world({ clock });
    const headers = { 'content-length': '1000' };
    const reply = here.served.call('/mutate/pods?timeout=2s', {
      body: '{',
      headers,
      endless: true,
    });
    await expect.poll(() => clock.waiting).toBe(1);
    await clock.forward(milliseconds(1799));
    expect(here.logged).toEqual([]);
    await clock.forward(1);
    expect(await reply).toMatchObject({ status: 504, headers: { connection: 'close' } });
    expect(here.logged).toMatchObject([{ status: 504 }]);
  });

  test('when the body came too late to be decided', async () => {
    const clock = new FakeClock();
    const times = [0, 1801].values();
    clock.now = () => times.next().value ?? 1801;
    const never: Decide = () => {
      throw new Error('decided in vain');
    };
    await using here = await world({ clock, hooks: alone('/validate', never) });
    const reply = await here.served.call('/validate?timeout=2s', { body: reviewOf('Pod', pod) });
    expect(reply.status).toBe(504);
  });
});

describe('too much to do', () => {
  const decide: Decide = () => ({ allowed: true });

  test.each([
    ['a hook that may shed is refused at once', true, 503],
    ['one that may not is answered, if late', false, 200],
  ])('with a slow event loop: %s', async (_, sheds, status) => {
    const gate = new Gate(() => milliseconds(201));
    await using here = await world({ gate, hooks: alone('/hook', decide, sheds) });
    const reply = await here.served.call('/hook', { body: reviewOf('Pod', pod) });
    expect(reply.status).toBe(status);
  });

  test('with bodies under way that fill the room: whoever comes is refused, until one has left', async () => {
    const gate = new Gate(() => 0, { bytes: 1000 });
    await using here = await world({ gate, hooks: alone('/hook', decide, false) });
    const leave = gate.enter(900, { sheds: true });
    const body = reviewOf('Pod', pod);
    expect((await here.served.call('/hook', { body })).status).toBe(503);
    leave();
    expect((await here.served.call('/hook', { body })).status).toBe(200);
    expect(gate.calls).toBe(0);
    expect(await here.metrics.text()).toContain(
      'karpenter_unikraft_webhook_failures_total{path="/hook",status="503"} 1',
    );
  });

  test('also when a caller leaves in the middle, its room is free again', async () => {
    const gate = new Gate(() => 0, { calls: 1 });
    await using here = await world({ gate, hooks: alone('/hook', decide) });
    const headers = { 'content-length': '1000' };
    const agent = here.served.agent();
    const call = here.served.call('/hook', { body: '{', headers, endless: true, agent });
    await expect.poll(() => gate.calls).toBe(1);
    agent.destroy();
    await expect(call).rejects.toThrow(/hang up|ECONNRESET/);
    await expect.poll(() => gate.calls).toBe(0);
  });
});

test('whoever reads the numbers reads every review that was answered, though some are counted later', async () => {
  await using here = await world({ notesAtOnce: 64 });
  await here.served.call('/mutate/pods', { body: reviewOf('Pod', pod) });
  expect(await here.metrics.text()).toMatch(/duration_seconds_count\{path="\/mutate\/pods".*\} 1/);
});
