import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, fstatSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

import { seconds, type Duration } from '#schemas/time/clock.ts';

import { endingWithParent, type Command } from './parent-death.ts';

export interface ProcessSpec {
  /** For people, and for the log file's name. */
  readonly name: string;
  readonly command: Command;
  /** The whole environment; default: this process' own. */
  readonly env?: Record<string, string | undefined>;
  readonly cwd?: string;
  /** How long it may take to end by itself when it is told to; default 10 s. */
  readonly grace?: Duration;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Why it never started. */
  readonly error?: Error;
}

/**
 * A program on this computer in a process group of its own: Ctrl-C on the terminal does not reach it, so that
 * whoever started it can stop things in order, and stopping it takes its children along.
 */
export class LocalProcess {
  readonly name: string;
  /** 0 when it never started. */
  readonly pid: number;
  /** Standard output and error, in one file. */
  readonly logFile: string;
  readonly exited: Promise<Exit>;
  readonly #grace: Duration;
  /** Where this life begins in a log that earlier ones have written to. */
  readonly #logStart: number;
  #exit: Exit | undefined;

  private constructor(spec: ProcessSpec, logFile: string, child: ChildProcess, logStart: number) {
    this.name = spec.name;
    this.#logStart = logStart;
    this.#grace = spec.grace ?? seconds(10);
    this.logFile = logFile;
    this.pid = child.pid ?? 0;
    const { promise, resolve } = Promise.withResolvers<Exit>();
    this.exited = promise;
    const end = (exit: Exit): void => {
      if (this.#exit) return;
      this.#exit = exit;
      this.kill('SIGKILL'); // what it started and did not stop itself
      resolve(exit);
    };
    child.once('exit', (code, signal) => end({ code, signal }));
    child.once('error', (error) => end({ code: null, signal: null, error }));
  }

  static start(spec: ProcessSpec, logFile: string): LocalProcess {
    const env = spec.env ?? process.env;
    const [program, ...args] = endingWithParent(spec.command);
    const log = openSync(logFile, 'a');
    try {
      const logStart = fstatSync(log).size;
      const child = spawn(program, args, {
        cwd: spec.cwd,
        env,
        detached: true,
        stdio: ['ignore', log, log],
      });
      return new LocalProcess(spec, logFile, child, logStart);
    } finally {
      closeSync(log);
    }
  }

  /** How it ended; undefined while it runs. */
  get exit(): Exit | undefined {
    return this.#exit;
  }

  /** Signals the whole group; whoever is gone already is no error. */
  kill(signal: NodeJS.Signals): void {
    if (this.pid === 0) return;
    try {
      process.kill(-this.pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }

  /** SIGTERM, and SIGKILL when it is still there after `grace`. */
  async stop(grace: Duration = this.#grace): Promise<Exit> {
    if (this.#exit) return this.#exit;
    this.kill('SIGTERM');
    const timer = setTimeout(() => this.kill('SIGKILL'), grace);
    return this.exited.finally(() => clearTimeout(timer));
  }

  /** The end of what it has said in this life. */
  async lastLines(count: number): Promise<string> {
    const bytes = await readFile(this.logFile).catch(() => Buffer.alloc(0));
    const text = bytes.subarray(this.#logStart).toString();
    return text.trimEnd().split('\n').slice(-count).join('\n');
  }
}

/** `exit code 1`, `SIGKILL`, or why it never started. */
export function describeExit({ code, signal, error }: Exit): string {
  return error ? error.message : (signal ?? `exit code ${code}`);
}
