import { describe, expect, test } from 'vitest';

import type { Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';

import { bookmark, initialEnd, pod, InformerWorld } from '../testing/informer-world.ts';
import { hangUp, json, refusal, ScriptedWatch } from '../testing/scripted-server.ts';

describe('the first state', () => {
  test('is streamed, and is shown when it is whole', async () => {
    await using world = await InformerWorld.open();
    const watch = new ScriptedWatch();
    world.server.script(watch.answer);
    const { informer, told } = world.start({ labelSelector: 'a=b' });
    await watch.send('ADDED', pod('one', 3));
    await watch.send('ADDED', pod('two', 4));
    await watch.send('DELETED', pod('two', 8));
    await world.turns();
    expect([informer.synced, informer.list(), told]).toEqual([false, [], []]);

    await watch.send('BOOKMARK', initialEnd(10));
    await informer.whenSynced(world.stop.signal);
    expect(told).toEqual(['add one']);
    expect(informer.get('x/one')?.metadata.managedFields).toBeUndefined();
    expect(world.queryOf(0)).toMatchObject({
      sendInitialEvents: 'true',
      allowWatchBookmarks: 'true',
      labelSelector: 'a=b',
      timeoutSeconds: '450',
    });
    expect(world.server.asked).toHaveLength(1);
  });

  test('comes in pages where a server does not stream it, and the watch goes on from there', async () => {
    await using world = await InformerWorld.open();
    const page = (items: Live<Pod>[], next?: string) =>
      json({ metadata: { resourceVersion: '10', continue: next }, items });
    const watch = new ScriptedWatch();
    world.server.script(
      refusal(422, 'Invalid', { message: 'sendInitialEvents: Forbidden' }),
      page([pod('one', 3)], 'next'),
      page([pod('two', 4)]),
      watch.answer,
    );
    const { informer, told } = world.start();
    await watch.opened();
    expect(informer.synced).toBe(true);
    expect(told).toEqual(['add one', 'add two']);
    expect(world.queryOf(1)).toEqual({ limit: '500' });
    expect(world.queryOf(2)).toEqual({ limit: '500', continue: 'next' });
    expect(world.queryOf(3)).toMatchObject({ watch: 'true', resourceVersion: '10' });
    expect(world.queryOf(3)).not.toHaveProperty('sendInitialEvents');
  });

  test('is begun again when the stream breaks before its end', async () => {
    await using world = await InformerWorld.open();
    const [first, second] = [new ScriptedWatch(), new ScriptedWatch()];
    world.server.script(first.answer, second.answer);
    const { informer } = world.start();
    await first.send('ADDED', pod('gone-since', 3));
    await first.cut();
    await world.untilInTime(() => world.server.asked.length === 2);
    await second.send('ADDED', pod('one', 4));
    await second.send('BOOKMARK', initialEnd(10));
    await informer.whenSynced(world.stop.signal);
    expect(informer.list().map(({ metadata }) => metadata.name)).toEqual(['one']);
  });

  test.each([
    { asked: 5, least: seconds(5) },
    { asked: 3600, least: seconds(30) },
  ])(
    'is asked for again when a server that asks for $asked s is ready, and one line says so',
    async ({ asked, least }) => {
      await using world = await InformerWorld.open();
      const watch = new ScriptedWatch();
      const message = 'storage is (re)initializing';
      const busy = refusal(429, 'TooManyRequests', { message }, { 'retry-after': String(asked) });
      world.server.script(busy, watch.answer);
      world.start();
      await world.until(() => world.lines.length > 0);
      const waited = await world.untilInTime(() => world.server.asked.length === 2);
      expect(waited).toBeGreaterThanOrEqual(least);
      expect(waited).toBeLessThanOrEqual(least + seconds(2));
      const told = world.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
      expect(told).toEqual([expect.objectContaining({ level: 'info', text: message })]);
      expect(world.lines.join('')).not.toContain('stack');
    },
  );

  test('is waited for no longer than the caller wants', async () => {
    await using world = await InformerWorld.open();
    world.server.otherwise(new ScriptedWatch().answer);
    const { informer } = world.start();
    const impatient = new AbortController();
    const wait = informer.whenSynced(impatient.signal);
    impatient.abort(new Error('shutting down'));
    await expect(wait).rejects.toThrow('shutting down');
  });
});

describe('a watch', () => {
  test('tells what changes, and indexes follow', async () => {
    await using world = await InformerWorld.open();
    const { informer, told, watch } = await world.started([pod('one', 3, 'u', 'n1')]);
    informer.addIndex('node', ({ spec }) => (spec?.nodeName ? [spec.nodeName] : []));
    await watch.send('MODIFIED', pod('one', 11, 'u', 'n2'));
    await watch.send('ADDED', pod('two', 12, 'v', 'n2'));
    await watch.send('DELETED', pod('one', 13, 'u', 'n2'));
    await world.until(() => told.length === 3);
    expect(told).toEqual(['update one 3', 'add two', 'delete one']);
    expect(informer.by('node', 'n2').map(({ metadata }) => metadata.name)).toEqual(['two']);
    expect(informer.by('node', 'n1')).toEqual([]);
  });

  test('an object made again under its name is deleted and added', async () => {
    await using world = await InformerWorld.open();
    const { told, watch } = await world.started([pod('one', 3, 'first')]);
    await watch.send('MODIFIED', pod('one', 11, 'second'));
    await world.until(() => told.length === 2);
    expect(told).toEqual(['delete one', 'add one']);
  });

  test('objects are trimmed as they arrive', async () => {
    await using world = await InformerWorld.open();
    const transform = (object: Live<Pod>) => ({ ...object, spec: { containers: [] } });
    const { informer, watch } = await world.started([pod('one', 3, 'u', 'n1')], { transform });
    await watch.send('ADDED', pod('two', 11, 'v', 'n1'));
    await world.until(() => informer.list().length === 2);
    expect(informer.list().map(({ spec }) => spec?.nodeName)).toEqual([undefined, undefined]);
  });

  test('quiet for five minutes, it costs no request; ended in time, it goes on from the last bookmark', async () => {
    await using world = await InformerWorld.open();
    const { watch } = await world.started();
    for (let minute = 1; minute <= 5; minute++) {
      // oxlint-disable-next-line no-await-in-loop -- minute by minute
      await world.clock.forward(minutes(1));
      // oxlint-disable-next-line no-await-in-loop -- minute by minute
      await watch.send('BOOKMARK', bookmark(10 + minute));
      // oxlint-disable-next-line no-await-in-loop -- minute by minute
      await world.turns();
    }
    expect(world.server.asked).toHaveLength(1);

    world.server.otherwise(new ScriptedWatch().answer);
    await watch.end();
    await world.until(() => world.server.asked.length === 2);
    expect(world.queryOf(1)).toMatchObject({ resourceVersion: '15' });
  });
});

describe('faults', () => {
  test.each([
    ['a 500', refusal(500, 'InternalError')],
    [
      'a proxy that answers for a server that is away',
      refusal(503, '', {}, { 'retry-after': '1' }),
    ],
    ['a broken connection', hangUp],
  ])('%s does not end it: it goes on where it was, without a full state', async (_, fault) => {
    await using world = await InformerWorld.open();
    const { told, watch } = await world.started([pod('one', 3)]);
    const next = new ScriptedWatch();
    world.server.script(fault, fault, next.answer);
    await watch.send('MODIFIED', pod('one', 11));
    await world.until(() => told.length === 1);
    await watch.cut();
    await world.untilInTime(() => world.server.asked.length === 4);
    expect(world.queryOf(3)).toMatchObject({ resourceVersion: '11' });
    await next.send('ADDED', pod('two', 12));
    await world.until(() => told.length === 2);
    expect(told).toEqual(['update one 3', 'add two']);
    expect(await world.metrics.text()).toContain('kube_informer_relists_total{informer="pods"} 1');
  });

  test('a malformed line is not passed over: the watch begins again before it', async () => {
    await using world = await InformerWorld.open();
    const { told, watch } = await world.started();
    const next = new ScriptedWatch();
    world.server.script(next.answer);
    await watch.send('ADDED', pod('one', 11));
    await watch.write('{"type":"ADDED","object":{"metad\n');
    await world.untilInTime(() => world.server.asked.length === 2);
    await next.send('ADDED', pod('two', 12));
    await world.until(() => told.length === 2);
    expect(world.queryOf(1)).toMatchObject({ resourceVersion: '11' });
    expect(world.lines.join('')).toContain('MalformedAnswer');
  });

  test.each(['by its answer', 'by its event'])(
    'a version too old, said %s, asks for the full state',
    async (how) => {
      await using world = await InformerWorld.open();
      const { told, informer, watch } = await world.started([
        pod('kept', 3),
        pod('gone', 4),
        pod('changed', 5),
      ]);
      const next = new ScriptedWatch();
      const expired = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' };
      world.server.script(
        ...(how === 'by its answer' ? [refusal(410, 'Expired')] : []),
        next.answer,
      );
      if (how === 'by its answer') await watch.cut();
      else await watch.send('ERROR', expired);
      await world.untilInTime(
        () =>
          world.server.asked.at(-1)?.query.has('sendInitialEvents') === true &&
          world.server.asked.length > 1,
      );
      expect(world.queryOf(-1)).not.toHaveProperty('resourceVersion');
      expect(informer.list()).toHaveLength(3); // what is known stays until better is known

      await next.send('ADDED', pod('kept', 3));
      await next.send('ADDED', pod('changed', 30));
      await next.send('ADDED', pod('new', 31));
      await next.send('BOOKMARK', initialEnd(40));
      await world.until(() => told.length === 3);
      expect(told).toEqual(['delete gone', 'update changed 5', 'add new']);
      expect(await world.metrics.text()).toContain(
        'kube_informer_relists_total{informer="pods"} 2',
      );
    },
  );

  test('a connection that is half open is given up after two missing bookmarks', async () => {
    await using world = await InformerWorld.open();
    const { informer, told, watch } = await world.started();
    const next = new ScriptedWatch();
    world.server.script(next.answer);
    await world.clock.forward(seconds(60));
    await watch.send('BOOKMARK', bookmark(11));
    await world.until(() => informer.lastEventAt === world.clock.now());
    const waited = await world.untilInTime(() => world.server.asked.length === 2);
    expect(waited).toBeGreaterThanOrEqual(seconds(150));
    expect(waited).toBeLessThan(seconds(190));
    expect(world.queryOf(1)).toMatchObject({ resourceVersion: '11' });
    await watch.closed();
    await next.send('ADDED', pod('one', 12));
    await world.until(() => told.length === 1);
  });

  test('a server that sends no bookmarks has until the end of the watch', async () => {
    await using world = await InformerWorld.open();
    const watch = new ScriptedWatch();
    world.server.script(
      refusal(422, 'Invalid'),
      json({ metadata: { resourceVersion: '1' }, items: [] }),
      watch.answer,
    );
    world.server.otherwise(new ScriptedWatch().answer);
    world.start();
    await watch.opened();
    const waited = await world.untilInTime(() => world.server.asked.length === 4);
    expect(waited).toBeGreaterThanOrEqual(seconds(480)); // 450 s were asked for
    expect(waited).toBeLessThan(seconds(520));
  });

  test('a server that ends each watch at once is not asked in a hot loop', async () => {
    await using world = await InformerWorld.open();
    const { watch } = await world.started();
    world.server.otherwise((response) => response.end());
    await watch.end();
    for (let second = 0; second < 120; second++) {
      // oxlint-disable-next-line no-await-in-loop -- second by second
      await world.clock.forward(seconds(1));
      // oxlint-disable-next-line no-await-in-loop -- second by second
      await world.turns(5);
    }
    expect(world.server.asked.length).toBeGreaterThan(8);
    expect(world.server.asked.length).toBeLessThan(25);
  });

  test('back after an outage of minutes, it is fresh within seconds', async () => {
    await using world = await InformerWorld.open();
    const { told, watch } = await world.started();
    world.server.otherwise(hangUp);
    await watch.cut();
    await world.untilInTime(() => world.clock.now() > Date.parse('2026-01-01T00:05:00Z'));
    const next = new ScriptedWatch();
    world.server.otherwise(next.answer);
    const asked = world.server.asked.length;
    const waited = await world.untilInTime(() => world.server.asked.length > asked);
    expect(waited).toBeLessThanOrEqual(seconds(16));
    await next.send('ADDED', pod('one', 11));
    await world.until(() => told.length === 1);
  });
});
