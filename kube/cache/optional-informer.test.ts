import { expect, test } from 'vitest';

import { pods } from '#schemas/kubernetes/resource.ts';
import { seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { silentLogger } from '../log.ts';
import { OptionalInformer } from './optional-informer.ts';

/** An API server that serves what it is told to, and a copy that is in sync a second after its start. */
function world() {
  const clock = new FakeClock();
  const server = { answer: (): unknown => undefined, asked: [] as string[] };
  const client = {
    raw: async (path: string): Promise<unknown> => {
      await Promise.resolve();
      server.asked.push(path);
      return server.answer();
    },
  };
  const first = Promise.withResolvers<void>();
  const inner = {
    resource: pods,
    synced: false,
    lastEventAt: 0,
    get: () => undefined,
    list: () => [],
    by: () => [],
    addIndex: () => {},
    subscribe: () => () => {},
    whenSynced: async () => first.promise,
    run: async (signal: AbortSignal) => {
      await clock.sleep(seconds(1), signal);
      inner.synced = true;
      first.resolve();
    },
  };
  const informer = new OptionalInformer(inner, { client, clock, log: silentLogger });
  const life = new AbortController();
  const inSync = { told: false };
  void informer.run(life.signal);
  void informer.whenSynced(life.signal).then(() => (inSync.told = true));
  return { clock, server, informer, inSync };
}

const served = { resources: [{ name: 'pods' }] };

test('a kind that is not served is in sync and empty, and fills once it is', async () => {
  const { clock, server, informer, inSync } = world();
  await clock.forward(0);
  expect(inSync.told).toBe(true);
  expect(informer.synced).toBe(true);
  expect(informer.list()).toEqual([]);

  server.answer = () => served;
  await clock.forward(seconds(20));

  expect(server.asked).toEqual(['/api/v1', '/api/v1']);
});

test('a kind that is served is in sync when its copy is, and not before', async () => {
  const { clock, server, informer, inSync } = world();
  server.answer = () => served;
  await clock.forward(0);
  expect([informer.synced, inSync.told]).toEqual([false, false]);

  await clock.forward(seconds(1));

  expect([informer.synced, inSync.told]).toEqual([true, true]);
});

test('a server that cannot say is asked again, and nobody takes that for none', async () => {
  const { clock, server, informer, inSync } = world();
  server.answer = () => {
    throw new Error('etcd is not there');
  };
  await clock.forward(seconds(40));
  expect([informer.synced, inSync.told]).toEqual([false, false]);
  expect(server.asked).toHaveLength(3);

  server.answer = () => undefined;
  await clock.forward(seconds(20));

  expect([informer.synced, inSync.told]).toEqual([true, true]);
});
