import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { identityOf, identityText, isAlive, parseIdentity, type Identity } from './identity.ts';
import { removeLeftovers } from './leftovers.ts';
import { LocalProcess } from './local-process.ts';
import { Run } from './run.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'runs-'));
});
afterEach(async () => rm(root, { recursive: true }));

const sleeper = { name: 'sleeper', command: ['sleep', '1000'] } as const;

/** The folder of a run whose owner was killed while `processes` ran. */
async function killedRun(owner: string, processes: readonly Identity[]): Promise<string> {
  const folder = join(root, `world-abc-${owner}`);
  await mkdir(join(folder, 'processes'), { recursive: true });
  const records = processes.map((identity) => join(folder, 'processes', identityText(identity)));
  await Promise.all(records.map((record) => writeFile(record, '')));
  return folder;
}

function identity(process: LocalProcess): Identity {
  const found = identityOf(process.pid);
  if (!found) throw new Error('it does not run');
  return found;
}

test('closing ends all processes, the youngest first, and leaves nothing', async () => {
  const run = await Run.open('world', root);
  const order: string[] = [];
  for (const name of ['first', 'second', 'third']) {
    const process = run.start({ ...sleeper, name });
    void process.exited.then(() => order.push(name));
  }

  await run.close();

  expect(order).toEqual(['third', 'second', 'first']);
  expect(await readdir(root)).toEqual([]);
});

test('nothing starts in a run that has ended', async () => {
  const run = await Run.open('world', root);
  await run.close();

  expect(() => run.start(sleeper)).toThrow('cannot start sleeper: the run has ended');
});

test('what a killed run left is removed when the next one opens', async () => {
  const orphan = LocalProcess.start(sleeper, join(root, 'orphan.log'));
  const folder = await killedRun('99999999-1', [identity(orphan)]);

  const run = await Run.open('world', root);

  expect(await orphan.exited).toMatchObject({ signal: 'SIGKILL' });
  expect(existsSync(folder)).toBe(false);
  await run.close();
});

test('a stranger that was given the pid of a process that is gone is let alone', async () => {
  const stranger = LocalProcess.start(sleeper, join(root, 'stranger.log'));
  await killedRun('99999999-1', [{ pid: stranger.pid, started: '1' }]);

  expect(await removeLeftovers(root)).toHaveLength(1);

  expect(stranger.exit).toBeUndefined();
  await stranger.stop();
});

test('a run whose owner lives, and folders that name no owner, are let alone', async () => {
  const run = await Run.open('world', root);
  await mkdir(join(root, 'kept-logs'));

  expect(await removeLeftovers(root)).toEqual([]);

  expect(existsSync(run.dir)).toBe(true);
  await run.close();
});

test('a process is told from a later one with its pid', async () => {
  const process = LocalProcess.start(sleeper, join(root, 'one.log'));
  const one = identity(process);

  expect(isAlive(one)).toBe(true);
  expect(isAlive({ ...one, started: '1' })).toBe(false);
  expect(parseIdentity(`world-1a2b-${identityText(one)}`)).toEqual(one);
  await process.stop();
  await vi.waitFor(() => expect(isAlive(one)).toBe(false));
});
