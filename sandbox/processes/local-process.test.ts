import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { identityOf, isAlive } from './identity.ts';
import { describeExit, LocalProcess } from './local-process.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'process-'));
});
afterEach(async () => rm(folder, { recursive: true }));

const shell = (script: string): LocalProcess =>
  LocalProcess.start({ name: 'sh', command: ['sh', '-c', script] }, join(folder, 'sh.log'));

const saying = async (process: LocalProcess, words: string): Promise<void> =>
  vi.waitFor(async () => expect(await process.lastLines(1)).toBe(words));

test('what it says and how it ends can be read', async () => {
  const process = shell('echo to one; echo to the other >&2; exit 4');

  const exit = await process.exited;

  expect(describeExit(exit)).toBe('exit code 4');
  expect(await process.lastLines(2)).toBe('to one\nto the other');
});

test('a second life writes to the same log, and speaks for itself', async () => {
  await shell('echo first').exited;
  const second = shell('echo second');
  await second.exited;

  expect(await second.lastLines(5)).toBe('second');
});

test('a program that is not there has ended before it began', async () => {
  const command = ['/nowhere/at/all'] as const;
  const process = LocalProcess.start({ name: 'none', command }, join(folder, 'none.log'));

  expect(await process.exited).not.toMatchObject({ code: 0 });
});

test('who does not listen to SIGTERM is killed after the grace period, with all it started', async () => {
  const process = shell('trap "" TERM; sleep 1000 & echo $!; wait; sleep 1000');
  await vi.waitFor(async () => expect(await process.lastLines(1)).toMatch(/^\d+$/));
  const grandchild = identityOf(Number(await process.lastLines(1)));

  const exit = await process.stop(50);

  expect(exit.signal).toBe('SIGKILL');
  await vi.waitFor(() => expect(grandchild && isAlive(grandchild)).toBe(false));
});

test('who listens ends by itself, and its helpers with it', async () => {
  const process = shell('sleep 1000 & trap "exit 0" TERM; echo ready; wait');
  await saying(process, 'ready');

  expect(await process.stop()).toMatchObject({ code: 0 });
});
