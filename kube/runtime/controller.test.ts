import { describe, expect, test } from 'vitest';

import type { Pod } from '#schemas/kubernetes/core.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { ApiError } from '../client/errors.ts';
import { silentLogger } from '../log.ts';
import { Metrics } from '../metrics.ts';
import { Controller, type KeysOf, watch } from './controller.ts';
import type { Result } from './reconciler.ts';
import { RecordingLogger, ScriptedInformer } from './testing/fakes.ts';
import { pod } from './testing/objects.ts';
import { forward } from './testing/time.ts';

type Reconcile = (key: string, signal: AbortSignal) => Promise<Result>;

/** A controller over Pods that is running, and what its reconciler was asked to do. */
function running(
  reconcile: Reconcile = async () => ({}),
  options: { concurrency?: number; keysOf?: KeysOf<Pod>; synced?: boolean } = {},
) {
  const clock = new FakeClock();
  const informer = new ScriptedInformer();
  const log = new RecordingLogger();
  const metrics = new Metrics();
  const seen: string[] = [];
  const controller = new Controller({
    name: 'test',
    reconciler: {
      reconcile: async (key, signal) => {
        seen.push(key);
        return reconcile(key, signal);
      },
    },
    concurrency: options.concurrency ?? 2,
    clock,
    log,
    metrics,
    watches: [watch(informer, options.keysOf)],
    random: () => 0,
  });
  const end = new AbortController();
  if (options.synced !== false) informer.sync();
  const ended = controller.run(end.signal);
  return { clock, informer, log, metrics, seen, controller, end, ended };
}

describe('what wakes it', () => {
  test('each object by its own key, none before the caches are full', async () => {
    const { clock, informer, seen } = running(undefined, { synced: false });
    informer.add(pod('web-0'));
    await forward(clock, minutes(1));
    expect(seen).toEqual([]);

    informer.sync();
    await forward(clock, 0);

    expect(seen).toEqual(['default/web-0']);
  });

  test('an update wakes what the old state led to as well', async () => {
    const keysOf: KeysOf<Pod> = ({ spec }) => (spec?.nodeName === undefined ? [] : [spec.nodeName]);
    const { clock, informer, seen } = running(undefined, { keysOf });

    informer.update(pod('web-0', { nodeName: 'new' }), pod('web-0', { nodeName: 'old' }));
    await forward(clock, 0);

    expect(seen.toSorted()).toEqual(['new', 'old']);
  });

  test('a mapper may compare both states and pass over what does not matter', async () => {
    const keysOf: KeysOf<Pod> = (object, other) =>
      object.spec?.nodeName === other?.spec?.nodeName ? [] : ['bound'];
    const { clock, informer, seen } = running(undefined, { keysOf });

    informer.update(pod('web-0', { nodeName: 'a' }), pod('web-0', { nodeName: 'a' }));
    await forward(clock, 0);
    expect(seen).toEqual([]);

    informer.update(pod('web-0', { nodeName: 'a' }), pod('web-0'));
    await forward(clock, 0);
    expect(seen).toEqual(['bound']);
  });

  test('a mapper that throws is logged and keeps nothing else from being seen', async () => {
    const keysOf: KeysOf<Pod> = ({ metadata }) => {
      if (metadata.name === 'odd') throw new Error('no idea');
      return [metadata.name];
    };
    const { clock, informer, seen, log } = running(undefined, { keysOf });

    informer.add(pod('odd'));
    informer.delete(pod('plain'));
    await forward(clock, 0);

    expect(seen).toEqual(['plain']);
    expect(log.lines).toMatchObject([{ level: 'error', facts: { kind: 'Pod' } }]);
  });

  test('whoever calls enqueue, also before it runs', async () => {
    const clock = new FakeClock();
    const seen: string[] = [];
    const controller = new Controller({
      name: 'test',
      reconciler: { reconcile: async (key) => (seen.push(key), {}) },
      concurrency: 1,
      clock,
      log: silentLogger,
      watches: [],
    });
    controller.enqueue('now');
    controller.enqueueAfter('later', seconds(5));
    const end = new AbortController();
    const ended = controller.run(end.signal);

    await forward(clock, seconds(4));
    expect(seen).toEqual(['now']);
    await forward(clock, seconds(1));
    expect(seen).toEqual(['now', 'later']);
    end.abort();
    await ended;
  });
});

describe('how it goes on', () => {
  test('requeueAfter brings the key back then', async () => {
    const { clock, informer, seen, metrics } = running(async () => ({ requeueAfter: seconds(30) }));
    informer.add(pod('a'));

    await forward(clock, seconds(29));
    expect(seen).toHaveLength(1);
    await forward(clock, seconds(31));
    expect(seen).toHaveLength(3);
    expect(await metrics.text()).toContain(
      'controller_runtime_reconcile_total{controller="test",result="requeue_after"} 3',
    );
  });

  test('a requeue at once backs off, so that it cannot run hot', async () => {
    for (const requeueAfter of [0, -5, Number.NaN]) {
      const { clock, informer, seen } = running(async () => ({ requeueAfter }));
      informer.add(pod('a'));

      await forward(clock, seconds(60)); // tries at 0, 1, 3, 7, 15 and 31 seconds

      expect(seen).toHaveLength(6);
    }
  });

  test('never is a time too', async () => {
    const { clock, informer, seen } = running(async () => ({ requeueAfter: Infinity }));
    informer.add(pod('a'));

    await forward(clock, minutes(60));

    expect(seen).toHaveLength(1);
    expect(clock.waiting).toBe(0);
  });

  test('a failure is logged with its key, counted, and tried again later and later', async () => {
    let broken = true;
    const { clock, informer, seen, log, metrics } = running(async () => {
      if (broken) throw new Error('no');
      return {};
    });
    informer.add(pod('a'));
    await forward(clock, seconds(8)); // tries at 0, 1, 3 and 7 seconds
    broken = false;
    await forward(clock, minutes(2));

    expect(seen).toHaveLength(5);
    expect(log.lines).toHaveLength(4);
    expect(log.lines[1]).toMatchObject({
      level: 'error',
      facts: { controller: 'test', key: 'default/a', failures: 2, retryInMs: 2000 },
    });
    const text = await metrics.text();
    expect(text).toContain('controller_runtime_reconcile_errors_total{controller="test"} 4');
    expect(text).toContain(
      'controller_runtime_reconcile_total{controller="test",result="success"} 1',
    );
    expect(text).toContain('controller_runtime_active_workers{controller="test"} 0');
  });

  test('a lost race is no error, and a server that asks for patience gets it', async () => {
    const call = { verb: 'PATCH', path: '/x' };
    const answers = [
      new ApiError(call, { code: 409 }, {}),
      new ApiError(call, { code: 429, retryAfter: seconds(20) }, {}),
    ];
    const { clock, informer, seen, log } = running(async () => {
      const answer = answers.shift();
      if (answer) throw answer;
      return {};
    });
    informer.add(pod('a'));

    await forward(clock, seconds(1));
    expect(log.lines.map(({ level }) => level)).toEqual(['debug', 'error']);
    await forward(clock, seconds(19));
    expect(seen).toHaveLength(2);
    await forward(clock, seconds(1));
    expect(seen).toHaveLength(3);
  });

  test('as many keys at once as it may, and the others after them', async () => {
    const { clock, informer, seen } = running(
      async () => {
        await clock.sleep(seconds(10));
        return {};
      },
      { concurrency: 2 },
    );
    for (const name of ['a', 'b', 'c']) informer.add(pod(name));

    await forward(clock, seconds(1));
    expect(seen).toEqual(['default/a', 'default/b']);
    await forward(clock, seconds(10));
    expect(seen).toEqual(['default/a', 'default/b', 'default/c']);
  });
});

describe('how it ends', () => {
  test('what is in hand hears of it and is waited for; what waits is left', async () => {
    const told: unknown[] = [];
    const { clock, informer, seen, end, ended, log } = running(
      async (_, signal) => {
        await clock.sleep(minutes(1), signal).catch((error: unknown) => told.push(error));
        await clock.sleep(seconds(2)); // tidies up
        throw signal.reason;
      },
      { concurrency: 1 },
    );
    informer.add(pod('a'));
    informer.add(pod('b'));
    await forward(clock, seconds(1));
    let over = false;
    void ended.then(() => (over = true));

    end.abort('the process ends');
    await forward(clock, seconds(1));
    expect(over).toBe(false);
    await forward(clock, seconds(1));
    await ended;

    expect(told).toEqual(['the process ends']);
    expect(seen).toEqual(['default/a']);
    expect(log.lines.map(({ level }) => level)).toEqual(['debug']);
    expect(clock.waiting).toBe(0);
    expect(informer.subscribers).toBe(0);
  });

  test('also while it waits for its caches, and when it was never wanted', async () => {
    const { end, ended, seen } = running(undefined, { synced: false });
    end.abort();
    await ended;

    const late = running();
    late.end.abort();
    await late.ended;

    expect(seen).toEqual([]);
  });
});
