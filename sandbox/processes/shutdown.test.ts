import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { isAlive, parseIdentity, type Identity } from './identity.ts';
import { Run } from './run.ts';

const program = fileURLToPath(new URL('./testing/world.ts', import.meta.url));
let root: string;
let children: ChildProcess[];
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'worlds-'));
  children = [];
});
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  await rm(root, { recursive: true, maxRetries: 3 });
});

interface World {
  readonly child: ChildProcess;
  readonly folder: string;
  readonly sleeper: Identity;
}

/** @param command what starts the world; its own node by default */
async function world(
  command: readonly string[] = [process.execPath, program, root],
): Promise<World> {
  const [file = '', ...args] = command;
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const [folder] = (await once(createInterface(child.stdout), 'line')) as [string];
  const [record = ''] = await readdir(join(folder, 'processes'));
  const sleeper = parseIdentity(record);
  if (!sleeper) throw new Error(`${record} names no process`);
  return { child, folder, sleeper };
}

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s ends the world and leaves neither process nor folder', async (signal, code) => {
  const { child, folder, sleeper } = await world();
  expect(isAlive(sleeper)).toBe(true);

  child.kill(signal);
  const [exitCode] = await once(child, 'exit');

  expect(exitCode).toBe(code);
  expect(isAlive(sleeper)).toBe(false);
  expect(existsSync(folder)).toBe(false);
});

test('the death of its parent ends the world', async () => {
  const shell = ['sh', '-c', '"$@" & wait', 'sh', process.execPath, program, root];
  const { child, folder, sleeper } = await world(shell);

  child.kill('SIGKILL');

  await vi.waitFor(() => expect(existsSync(folder)).toBe(false), { timeout: 5000 });
  expect(isAlive(sleeper)).toBe(false);
});

test('after SIGKILL the next run removes what is left', async () => {
  const { child, folder, sleeper } = await world();

  child.kill('SIGKILL');
  await once(child, 'exit');
  const next = await Run.open('world', root);

  await vi.waitFor(() => expect(isAlive(sleeper)).toBe(false));
  expect(existsSync(folder)).toBe(false);
  await next.close();
});
