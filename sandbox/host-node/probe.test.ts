import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterEach, expect, test, vi } from 'vitest';

import { seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import type { Probe } from './pod-spec.ts';
import { watchProbe } from './probe.ts';

let server: Server;
const stop = new AbortController();
afterEach(() => {
  stop.abort();
  server.close();
});

test('it asks the local port, says failure after the threshold, and success at once', async () => {
  const health = { code: 503 };
  const asked: (string | undefined)[] = [];
  server = createServer(({ url }, response) => {
    asked.push(url);
    response.writeHead(health.code).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const clock = new FakeClock();
  const said: string[] = [];
  const probe: Probe = {
    httpGet: { path: '/readyz', port: 'health' },
    initialDelaySeconds: 5,
    periodSeconds: 30,
    failureThreshold: 2,
  };
  const ports = [{ name: 'health', containerPort: 8081 }];
  const target = { container: { name: 'main', ports }, ports: new Map([[8081, port]]) };
  const watched = {
    onSuccess: () => void said.push('well'),
    onFailure: (why: string) => void said.push(why),
  };
  const asks = async (count: number): Promise<void> =>
    vi.waitFor(() => {
      expect(asked).toHaveLength(count);
      expect(clock.waiting).toBe(1); // it has taken the answer and waits for the next time
    });

  const watching = watchProbe(probe, target, watched, { clock, signal: stop.signal });
  const over = watching.catch((error: Error) => error.name);
  await clock.forward(seconds(5));
  await asks(1);
  expect(said).toEqual([]); // one failure is none

  await clock.forward(seconds(1)); // and not the whole period
  await asks(2);
  expect(said).toEqual(['HTTP 503 from /readyz']);

  health.code = 200;
  await clock.forward(seconds(1));
  await asks(3);
  expect(said.at(-1)).toBe('well');

  await clock.forward(seconds(29));
  expect(asked).toEqual(['/readyz', '/readyz', '/readyz']); // well: it waits the period out
  stop.abort();
  expect(await over).toBe('AbortError');
});
