import type { Runnable } from './reconciler.ts';

/** Part of the process does not run any more; `cause` says why. */
export class RunnableFailed extends Error {
  override readonly name = 'RunnableFailed';
  readonly runnable: string;

  constructor(runnable: string, cause: unknown) {
    super(`${runnable}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.runnable = runnable;
  }
}

/** Runnables that start and end together. */
export class Group {
  readonly #failed: (error: RunnableFailed) => void;
  readonly #end = new AbortController();
  readonly #running = new Map<Runnable, Promise<void>>();

  /** @param failed told of each runnable that throws, or ends although nobody asked it to */
  constructor(failed: (error: RunnableFailed) => void) {
    this.#failed = failed;
  }

  /** Names of those that have not ended. */
  get running(): string[] {
    return [...this.#running.keys()].map(({ name }) => name);
  }

  /** @param signal ends them as well */
  start(runnables: readonly Runnable[], signal?: AbortSignal): void {
    const end = signal ? AbortSignal.any([this.#end.signal, signal]) : this.#end.signal;
    for (const runnable of runnables) this.#running.set(runnable, this.#run(runnable, end));
  }

  /** Tells all to end. */
  abort(reason: unknown): void {
    this.#end.abort(reason);
  }

  /** Resolves when all have ended, however they ended. */
  async ended(): Promise<void> {
    await Promise.all(this.#running.values());
  }

  async #run(runnable: Runnable, signal: AbortSignal): Promise<void> {
    await Promise.resolve(); // all are registered before the first one runs
    try {
      await runnable.run(signal);
      if (!signal.aborted) throw new Error('ended although nobody asked it to');
    } catch (error) {
      // Many end by throwing the reason that they were told.
      if (!signal.aborted || error !== signal.reason) {
        this.#failed(new RunnableFailed(runnable.name, error));
      }
    } finally {
      this.#running.delete(runnable);
    }
  }
}
