import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { describe, expect, test } from 'vitest';

import { seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

import { silentLogger } from '../log.ts';
import { Metrics } from '../metrics.ts';
import { type Check, findingsOf } from './checks.ts';
import { HealthServer, type HealthServerOptions } from './health-server.ts';

const at = { port: 0, host: '127.0.0.1', clock: new SystemClock(), log: silentLogger };

/** Runs a server while `story` asks it things by path. */
async function serving(
  options: Partial<HealthServerOptions>,
  story: (get: (path: string, init?: RequestInit) => Promise<Response>) => Promise<void>,
): Promise<void> {
  const server = new HealthServer({ ...at, ...options });
  const end = new AbortController();
  const ended = server.run(end.signal);
  const { port } = await server.listening;
  try {
    await story(async (path, init) => fetch(`http://127.0.0.1:${port}${path}`, init));
  } finally {
    end.abort();
    await ended;
  }
}

describe('probes', () => {
  test('all well: 200 and a line for each check', async () => {
    const ready = new Map<string, Check>([['caches', () => undefined]]);
    await serving({ live: new Map(), ready }, async (get) => {
      const answer = await get('/readyz?verbose');

      expect(answer.status).toBe(200);
      expect(await answer.text()).toBe('[+] caches: ok\nok\n');
      expect(await (await get('/healthz')).text()).toBe('ok\n');
    });
  });

  test('trouble: 503 and which check says what, also for one that was added later', async () => {
    const ready = new Map<string, Check>();
    await serving({ ready }, async (get) => {
      ready.set('caches', () => 'waiting for Pod');
      ready.set('webhook', async () => Promise.reject(new Error('no certificate')));
      const answer = await get('/readyz');

      expect(answer.status).toBe(503);
      expect(await answer.text()).toBe(
        '[-] caches: waiting for Pod\n[-] webhook: no certificate\nnot ok\n',
      );
    });
  });

  test('a check that does not answer has failed', async () => {
    const clock = new FakeClock();
    const never = new Map<string, Check>([['stuck', async () => new Promise(() => {})]]);
    const findings = findingsOf(never, clock);
    await clock.forward(seconds(2));

    expect(await findings).toEqual([{ name: 'stuck', trouble: 'no answer within 2 s' }]);
    expect(clock.waiting).toBe(0);
  });
});

test('metrics are served in the format that Prometheus reads', async () => {
  const metrics = new Metrics();
  metrics.counter('tries_total', 'Tries.').inc();
  await serving({ metrics }, async (get) => {
    const answer = await get('/metrics');

    expect(answer.headers.get('content-type')).toBe(metrics.contentType);
    expect(await answer.text()).toContain('tries_total 1');
  });
});

test('what was not given is not served, and nothing can be written', async () => {
  await serving({ live: new Map() }, async (get) => {
    expect((await get('/metrics')).status).toBe(404);
    expect((await get('/readyz')).status).toBe(404);
    expect((await get('/healthz', { method: 'POST' })).status).toBe(405);
    const head = await get('/healthz', { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });
});

test('a page that breaks is one answer that failed', async () => {
  const metrics = new Metrics();
  metrics.sample('broken', 'Broken.', {}, () => {
    throw new Error('no');
  });
  await serving({ metrics, live: new Map() }, async (get) => {
    expect((await get('/metrics')).status).toBe(500);
    expect((await get('/healthz')).status).toBe(200);
  });
});

test('a port that is taken is an error that names it', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => void other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as AddressInfo;
  const server = new HealthServer({ ...at, port });

  await expect(server.run(new AbortController().signal)).rejects.toThrow(
    `cannot listen on 127.0.0.1:${port}`,
  );
  await expect(server.listening).rejects.toThrow('EADDRINUSE');
  other.close();
});
