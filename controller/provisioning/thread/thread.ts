import { Worker } from 'node:worker_threads';

import type { Plan, Problem } from '#scheduling/solver.ts';

import type { Slices } from '../slices.ts';
import { SolveFailed, SolverThreadDied } from './errors.ts';
import type { FromThread } from './messages.ts';
import { planOf } from './plan-text.ts';
import { Sender } from './sender.ts';

/** A plan, and how long the thread took to make it. */
export interface Solved {
  readonly plan: Plan;
  readonly milliseconds: number;
}

interface Answer {
  readonly texts: readonly string[];
  readonly milliseconds: number;
}

/**
 * Megabytes for what was made a moment ago. V8 takes up to 192 where it may, and gives little of it back: the process
 * held 100 MiB more after the warm-up, and 20,000 Pods were placed no sooner.
 */
const resourceLimits = { maxYoungGenerationSizeMb: 32 };

/** One thread, from its start to its end. It never keeps the process alive. */
export class Thread {
  readonly #worker: Worker;
  readonly #sender: Sender;
  readonly #ended = Promise.withResolvers<SolverThreadDied>();
  readonly #warm = Promise.withResolvers<void>();
  /** Of the problem that is told or solved now. */
  #number = 0;
  #texts: string[] = [];
  #waiting: PromiseWithResolvers<Answer> | undefined;
  #death: SolverThreadDied | undefined;

  /** @param program  the file that the thread runs */
  constructor(program: URL) {
    this.#worker = new Worker(program, { name: 'solver', execArgv: [], resourceLimits });
    this.#worker.unref();
    this.#worker.on('message', (message: FromThread) => this.#hear(message));
    this.#worker.on('error', (error) => this.#die(error));
    this.#worker.on('exit', (code) => this.#die(new Error(`it ended with code ${code}`)));
    this.#sender = new Sender((message) => this.#worker.postMessage(message));
  }

  /** Resolves with the reason once the thread is no more. */
  get ended(): Promise<SolverThreadDied> {
    return this.#ended.promise;
  }

  /** Resolves once it solves as fast as it can; it solves before, too. */
  get warm(): Promise<void> {
    return this.#warm.promise;
  }

  /**
   * One problem at a time.
   *
   * @throws SolveFailed, SolverThreadDied, the signal's reason
   */
  async solve(problem: Problem, slices: Slices, signal: AbortSignal): Promise<Solved> {
    if (this.#death) throw this.#death;
    if (this.#waiting) throw new Error('the solver thread solves one problem at a time');
    const waiting = Promise.withResolvers<Answer>();
    waiting.promise.catch(() => {}); // told while the problem is still on its way
    this.#waiting = waiting;
    this.#number += 1;
    this.#texts = [];
    const abort = (): void => waiting.reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    try {
      await this.#sender.send(problem, this.#number, slices, signal);
      const { texts, milliseconds } = await waiting.promise;
      return { plan: await planOf(texts, problem.pools, slices), milliseconds };
    } finally {
      signal.removeEventListener('abort', abort);
      this.#waiting = undefined;
    }
  }

  /** Ends it, whatever it does. */
  async end(reason: Error): Promise<void> {
    this.#die(reason);
    await this.#worker.terminate();
  }

  #hear(message: FromThread): void {
    if (message.kind === 'warm') {
      this.#warm.resolve();
      return;
    }
    if (message.number !== this.#number) return;
    switch (message.kind) {
      case 'plan':
        this.#texts.push(message.text);
        return;
      case 'solved':
        this.#waiting?.resolve({ texts: this.#texts, milliseconds: message.milliseconds });
        return;
      case 'failed':
        this.#waiting?.reject(new SolveFailed(message));
    }
  }

  #die(cause: Error): void {
    this.#death ??= new SolverThreadDied(cause);
    this.#waiting?.reject(this.#death);
    this.#ended.resolve(this.#death);
  }
}
