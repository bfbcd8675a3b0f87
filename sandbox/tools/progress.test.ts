import { expect, test } from 'vitest';

import { seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { elapsed, ScreenProgress } from './progress.ts';

function screen(isTTY: boolean) {
  const written: string[] = [];
  return { isTTY, columns: 60, written, write: (text: string) => written.push(text) };
}

test('when piped it says that it goes on, every 20 s', async () => {
  const clock = new FakeClock();
  const piped = screen(false);
  const work = Promise.withResolvers<void>();
  const step = new ScreenProgress(piped, clock).step('go build etcd', async (note) => {
    note('compiling raft');
    await work.promise;
  });

  await clock.forward(seconds(45));
  work.resolve();
  await step;

  expect(piped.written).toEqual([
    'go build etcd …\n',
    'go build etcd … 20 s  compiling raft\n',
    'go build etcd … 40 s  compiling raft\n',
    'go build etcd: 45 s\n',
  ]);
  expect(clock.waiting).toBe(0);
});

test('on a terminal one line counts the seconds and is never wider than the screen', async () => {
  const clock = new FakeClock();
  const terminal = screen(true);
  const work = Promise.withResolvers<void>();
  const step = new ScreenProgress(terminal, clock).step('go build etcd', async (note) => {
    note('x'.repeat(100));
    await work.promise;
  });

  await clock.forward(seconds(2));
  work.resolve();
  await step;

  const lines = terminal.written.map((text) => text.replace('\r\u001B[K', ''));
  expect(lines[2]?.slice(0, 20)).toBe('go build etcd … 2 s ');
  expect(lines.at(-1)).toBe('go build etcd: 2 s\n');
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(60);
});

test('a failure is said, and thrown on', async () => {
  const piped = screen(false);
  const step = new ScreenProgress(piped, new FakeClock()).step('go build etcd', async () => {
    throw new Error('no space left');
  });

  await expect(step).rejects.toThrow('no space left');
  expect(piped.written.at(-1)).toBe('go build etcd: failed after 0 s\n');
});

test('durations read as people say them', () => {
  expect([9, 60, 450].map((count) => elapsed(seconds(count)))).toEqual([
    '9 s',
    '1 min 0 s',
    '7 min 30 s',
  ]);
});
