import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { identityOf, identityText } from '../processes/identity.ts';
import { withLock } from './lock.ts';

let folder: string;
let lock: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lock-'));
  lock = join(folder, 'lock');
});
afterEach(async () => rm(folder, { recursive: true }));

test('the lock is held while the work runs, and nothing stays, also after a failure', async () => {
  const clock = new FakeClock();

  const held = await withLock(lock, { clock }, async () => existsSync(lock));
  const failed = withLock(lock, { clock }, async () => {
    throw new Error('broken');
  });

  await expect(failed).rejects.toThrow('broken');
  expect(held).toBe(true);
  expect(await readdir(folder)).toEqual([]);
});

test('a lock whose holder died is taken over', async () => {
  await writeFile(lock, '99999999-1');

  expect(await withLock(lock, { clock: new FakeClock() }, async () => 'done')).toBe('done');
});

test('who comes second is told by whom it waits, and goes on when the lock is free', async () => {
  const clock = new FakeClock();
  const holder = identityOf(process.ppid);
  if (!holder) throw new Error('a test has a parent');
  await writeFile(lock, identityText(holder));
  const waitedFor: number[] = [];
  const onWait = (pid: number): void => void waitedFor.push(pid);

  const second = withLock(lock, { clock, onWait }, async () => 'done');
  await vi.waitFor(() => expect(clock.waiting).toBe(1));
  await rm(lock);
  await clock.forward(seconds(1));

  expect(await second).toBe('done');
  expect(waitedFor).toEqual([holder.pid]);
});
