import { once } from 'node:events';
import { createServer } from 'node:net';

import { expect, test } from 'vitest';

import { FakeClock } from '#schemas/time/fake-clock.ts';

import type { LocalProcess } from './local-process.ts';
import { freePort, PortTaken, saysPortTaken, withFreePort } from './ports.ts';
import { NotReady, untilReady } from './ready.ts';

test('a free port can be listened on, and lies below those of outgoing connections', async () => {
  const port = await freePort();
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  server.close();

  expect(port).toBeLessThan(32_768);
});

test('who finds the port taken is given others, five in all', async () => {
  const tried: number[] = [];
  const start = async (port: number): Promise<number> => {
    tried.push(port);
    if (tried.length < 3) throw new PortTaken('another one has it');
    return port;
  };

  expect(await withFreePort(start)).toBe(tried[2]);

  const never = async (): Promise<never> => {
    throw new PortTaken('another one has it');
  };
  await expect(withFreePort(never)).rejects.toThrow(PortTaken);
});

test('any other failure is not tried again', async () => {
  let tries = 0;
  const broken = async (): Promise<never> => {
    tries++;
    throw new Error('broken');
  };

  await expect(withFreePort(broken)).rejects.toThrow('broken');
  expect(tries).toBe(1);
});

test("a taken port is read out of Go's and Node's words", () => {
  expect(saysPortTaken('listen tcp 127.0.0.1:2379: bind: address already in use')).toBe(true);
  expect(saysPortTaken('Error: listen EADDRINUSE: address already in use')).toBe(true);
  expect(saysPortTaken('permission denied')).toBe(false);
});

/** A program as `untilReady` sees it. */
function program(log: string, exit?: { code: number }): LocalProcess {
  return { name: 'etcd', exit, lastLines: async () => log } as unknown as LocalProcess;
}
const no = async (): Promise<boolean> => false;

test('a program that ends while it is waited for says why', async () => {
  const clock = new FakeClock();
  const ended = { code: 1 };

  await expect(untilReady(program('bad flag', ended), no, { clock })).rejects.toThrow(
    new NotReady('etcd: exit code 1\nbad flag'),
  );
  const taken = program('bind: address already in use', ended);
  await expect(untilReady(taken, no, { clock })).rejects.toThrow(PortTaken);
});

test('a program that never answers is given up, with the end of its log', async () => {
  const clock = new FakeClock();
  const waiting = untilReady(program('still loading'), no, { clock, within: 1000 });
  const failure = waiting.catch((error: Error) => error.message);

  await clock.forward(1100);

  expect(await failure).toBe('etcd: not ready after 1 s\nstill loading');
});
