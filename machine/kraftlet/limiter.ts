/** Lets at most so many actions run at once; the others wait in order. */
export class Limiter {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(limit: number) {
    this.#free = limit;
  }

  /** Actions that wait for others to end. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Rejects with the signal's reason, without running, when it aborted while waiting. */
  async run<T>(action: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#enter();
    try {
      signal.throwIfAborted();
      return await action();
    } finally {
      this.#leave();
    }
  }

  async #enter(): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    await promise;
  }

  /** A place that becomes free goes to who has waited longest. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free += 1;
  }
}
