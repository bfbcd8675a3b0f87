import { expect, test } from 'vitest';

import { pods } from '#schemas/kubernetes/resource.ts';
import { seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { ApiError } from '../client/errors.ts';
import { silentLogger } from '../log.ts';
import { OptionalInformer } from './optional-informer.ts';

/** An API server that serves what it is told to, and a copy that is in sync a second after its start. */
function world(options: { mayBeForbidden?: boolean } = {}) {
  const clock = new FakeClock();
  const server = { answer: (_path: string): unknown => undefined, asked: [] as string[] };
  const client = {
    raw: async (path: string): Promise<unknown> => {
      await Promise.resolve();
      server.asked.push(path);
      return server.answer(path);
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
  const informer = new OptionalInformer(inner, { client, clock, log: silentLogger, ...options });
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

const refused = new ApiError({ verb: 'GET', path: '/api/v1/pods' }, { code: 403 }, {});

test('a kind that may not be read is waited for', async () => {
  const { clock, server, inSync } = world();
  server.answer = () => {
    throw refused;
  };
  await clock.forward(seconds(20));
  expect(inSync.told).toBe(false);
});

test('where the right may be missing whoever waits goes on, can tell why, and sees it fill once the right is there', async () => {
  const { clock, server, informer, inSync } = world({ mayBeForbidden: true });
  server.answer = (path) => {
    if (path.includes('?')) throw refused;
    return served;
  };
  await clock.forward(0);
  expect([informer.synced, inSync.told, informer.isForbidden]).toEqual([true, true, true]);

  server.answer = () => served;
  await clock.forward(seconds(15));
  expect(informer.isForbidden).toBe(true); // allowed, and not read yet
  await clock.forward(seconds(5));

  expect(informer.isForbidden).toBe(false);
  expect(server.asked.at(-1)).toBe('/api/v1/pods?limit=1');
});
