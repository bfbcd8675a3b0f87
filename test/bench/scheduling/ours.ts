import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { endingWithParent } from '#sandbox/processes/parent-death.ts';

import { median } from '../webhook/statistics.ts';
import type { Solved } from './solving.ts';

const solving = fileURLToPath(new URL('solving.ts', import.meta.url));

export interface Draws {
  /** File of the draw that a process solves before. */
  readonly warmUp: string;
  /** File of the draw that is measured. */
  readonly input: string;
}

/** Medians over so many processes; of these the first is judged. Plans are the same in all. */
export async function solveOurs(draws: Draws, processes: number, judged: boolean): Promise<Solved> {
  const all: Solved[] = [];
  for (let index = 0; index < processes; index++) {
    all.push(await solveOnce(draws, judged && index === 0)); // oxlint-disable-line no-await-in-loop -- in turn
  }
  const [first] = all;
  if (!first) throw new Error('at least one process is needed');
  if (all.some(({ claims, price }) => claims !== first.claims || price !== first.price)) {
    throw new Error('the same problem had different plans');
  }
  const middle = (
    key: 'coldSeconds' | 'seconds' | 'tripSeconds' | 'laterSeconds' | 'readMiB' | 'peakMiB',
  ) => median(all.map((one) => one[key]));
  return {
    ...first,
    coldSeconds: middle('coldSeconds'),
    seconds: middle('seconds'),
    tripSeconds: middle('tripSeconds'),
    laterSeconds: middle('laterSeconds'),
    readMiB: middle('readMiB'),
    peakMiB: middle('peakMiB'),
  };
}

async function solveOnce({ warmUp, input }: Draws, judged: boolean): Promise<Solved> {
  const args = [solving, warmUp, input, ...(judged ? ['judge'] : [])];
  const [command, ...rest] = endingWithParent([process.execPath, ...args]);
  const { stdout } = await promisify(execFile)(command, rest);
  return JSON.parse(stdout) as Solved;
}
