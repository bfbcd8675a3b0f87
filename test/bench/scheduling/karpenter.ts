/** Karpenter's side: its Solve on a case, priced by our file in it, and its benchmark as it prints itself. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { endingWithParent } from '#sandbox/processes/parent-death.ts';

/** As `karpenter/priced_test.go` reads it. */
export interface Task {
  readonly Kind: 'mix' | 'unlike' | 'plain' | 'wishful';
  readonly Pods: number;
  readonly Nodes: number;
  readonly Seed: number;
  /** File that the input is written to. */
  readonly Input?: string;
  readonly Solve: boolean;
}

/** As `karpenter/priced_test.go` prints it. */
export interface Priced {
  /** Of Solve alone: what prepares it (topology, scheduler) is not counted, as in upstream's benchmark. */
  readonly Seconds: number;
  readonly Claims: number;
  readonly OnNodes: number;
  /** USD per hour. */
  readonly Price: number;
  readonly PeakMiB: number;
}

/** Writes the input of a case, and no more. */
export async function writeInput(program: string, task: Omit<Task, 'Solve'>): Promise<void> {
  await output(program, ['-test.run=^TestPriced$'], { ...task, Solve: false });
}

/**
 * Solves a case in a process of its own; its input is written before. A Pod that gets no place fails it.
 *
 * @param limit  milliseconds after which the process is ended
 * @returns undefined when it was ended
 */
export async function solvePriced(
  program: string,
  task: Omit<Task, 'Solve'>,
  limit?: number,
): Promise<Priced | undefined> {
  const args = ['-test.run=^TestPriced$', '-test.timeout=0'];
  const said = await output(program, args, { ...task, Solve: true }, limit).catch(
    (error: unknown) => {
      if (limit !== undefined && wasEnded(error)) return undefined;
      throw error;
    },
  );
  if (said === undefined) return undefined;
  const [, text] = /^priced (.*)$/m.exec(said) ?? [];
  if (text === undefined) throw new Error(`Karpenter's benchmark said no price:\n${said}`);
  return JSON.parse(text) as Priced;
}

/** Pods per second, as upstream's unchanged benchmark prints them. */
export async function ownFigure(program: string, benchmark: string): Promise<number> {
  const said = await output(program, [
    '-test.run=^$',
    `-test.bench=^Benchmark${benchmark}$`,
    '-test.benchtime=1x',
    '-test.timeout=0',
  ]);
  const [, figure] = /\s([\d.e+]+) pods\/sec/.exec(said) ?? [];
  if (figure === undefined) throw new Error(`Karpenter's benchmark said no Pods/s:\n${said}`);
  return Number(figure);
}

function wasEnded(error: unknown): boolean {
  return error instanceof Error && 'killed' in error && error.killed === true;
}

async function output(
  program: string,
  args: readonly string[],
  task?: Task,
  limit = 0,
): Promise<string> {
  const [command, ...rest] = endingWithParent([program, ...args]);
  const env = { ...process.env, KPU_TASK: task ? JSON.stringify(task) : '' };
  const options = { env, maxBuffer: 2 ** 24, timeout: Math.ceil(limit) };
  const { stdout } = await promisify(execFile)(command, rest, options);
  return stdout;
}
