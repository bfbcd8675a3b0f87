/**
 * Problems are solved in a thread of their own, so that leases, watches and probes go on while thousands of Pods are
 * placed. The thread lives as long as its solver runs; one that dies is replaced.
 */
import type { Logger } from '#kube/log.ts';
import type { Metrics } from '#kube/metrics.ts';
import { defaultBackOff, waitAfter } from '#kube/runtime/back-off.ts';
import type { Runnable } from '#kube/runtime/reconciler.ts';
import type { Plan, Problem } from '#scheduling/solver.ts';
import { minutes, type Clock, type Duration } from '#schemas/time/clock.ts';

import { Slices } from '../slices.ts';
import type { Solver } from '../solver.ts';
import { NoSolverThread } from './errors.ts';
import { Thread } from './thread.ts';

export interface SolverThreadParts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Default: the solver, from source or from the bundle. */
  readonly program?: URL;
  /** In [0, 1); spreads restarts. */
  readonly random?: () => number;
}

/** A problem that takes longer is given up, with its thread; upstream gives up after as long. */
const longest: Duration = minutes(1);

export class SolverThread implements Runnable, Solver {
  readonly name = 'solver-thread';
  readonly #parts: SolverThreadParts;
  readonly #program: URL;
  readonly #slices = new Slices();
  #thread: Thread | undefined;
  #failures = 0;

  constructor(parts: SolverThreadParts) {
    this.#parts = parts;
    // The bundle's package.json leads the same name to the bundled file.
    const here = '#controller/provisioning/thread/worker.ts';
    this.#program = parts.program ?? new URL(import.meta.resolve(here));
  }

  /** Keeps a thread alive until the signal aborts; then ends it. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // oxlint-disable-next-line no-await-in-loop -- one thread after the other is the point
      await this.#live(signal);
    }
  }

  /**
   * @throws SolveFailed: the problem cannot be solved
   * @throws SolverThreadDied: there is no plan, and another thread is on its way (KPU350)
   * @throws NoSolverThread: the same, and nobody tried
   */
  async solve(problem: Problem, signal: AbortSignal): Promise<Plan> {
    const thread = this.#thread;
    if (!thread) throw new NoSolverThread();
    const cancel = this.#parts.clock.after(longest, () => {
      void thread.end(new Error(`it had no plan after ${longest / 1000} s`));
    });
    try {
      const { plan, milliseconds } = await thread.solve(problem, this.#slices, signal);
      this.#failures = 0;
      this.#observe(milliseconds);
      return plan;
    } finally {
      cancel();
    }
  }

  /** One thread, and after its death the time to wait for the next. */
  async #live(signal: AbortSignal): Promise<void> {
    const { clock, log, metrics, random = Math.random } = this.#parts;
    const thread = new Thread(this.#program);
    this.#thread = thread;
    const stop = (): void => void thread.end(new Error('the controller stops'));
    signal.addEventListener('abort', stop, { once: true });
    const death = await thread.ended;
    signal.removeEventListener('abort', stop);
    this.#thread = undefined;
    if (signal.aborted) return thread.end(death);
    this.#failures += 1;
    metrics
      .counter('karpenter_unikraft_solver_thread_deaths_total', 'Solver threads that died.')
      .inc();
    const wait = waitAfter(this.#failures, defaultBackOff, random());
    const facts = { err: death, failures: this.#failures, restartInMs: Math.round(wait) };
    log.error(facts, 'the solver thread died');
    await clock.sleep(wait, signal).catch(() => {});
  }

  #observe(milliseconds: number): void {
    this.#parts.metrics
      .histogram(
        'karpenter_unikraft_solver_thread_duration_seconds',
        'Time that the thread took to solve, without telling it the problem.',
      )
      .observe({}, milliseconds / 1000);
  }
}
