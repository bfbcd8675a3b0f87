import type { Clock, Duration, Instant } from '#schemas/time/clock.ts';

export interface BatchWindow {
  /** It closes when nothing new came for so long. */
  readonly idle: Duration;
  /** It closes so long after it opened, whatever comes. */
  readonly max: Duration;
}

/**
 * Waits until the Pods that arrive together have arrived, so that they are placed together.
 *
 * The first trigger opens a window. A key that it has seen already neither opens nor extends it.
 */
export class Batcher {
  readonly #clock: Clock;
  readonly #window: BatchWindow;
  readonly #seen = new Set<string>();
  #closes: { idle: Instant; latest: Instant } | undefined;
  #wake: (() => void) | undefined;

  constructor(clock: Clock, window: BatchWindow) {
    this.#clock = clock;
    this.#window = window;
  }

  /** @param key what came: the UID of a Pod, or a reason to look again */
  trigger(key: string): void {
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    const now = this.#clock.now();
    const latest = this.#closes?.latest ?? now + this.#window.max;
    this.#closes = { idle: now + this.#window.idle, latest };
    this.#wake?.();
  }

  /** Resolves when a window has closed; rejects when the signal aborts. */
  async next(signal: AbortSignal): Promise<void> {
    while (!this.#closes) {
      // oxlint-disable-next-line no-await-in-loop -- until something comes
      await this.#awake(signal);
    }
    for (let left = this.#left(); left > 0; left = this.#left()) {
      // oxlint-disable-next-line no-await-in-loop -- what comes meanwhile may extend the window
      await this.#clock.sleep(left, signal);
    }
    this.#closes = undefined;
    this.#seen.clear();
  }

  #left(): Duration {
    const { idle, latest } = this.#closes ?? { idle: 0, latest: 0 };
    return Math.min(idle, latest) - this.#clock.now();
  }

  async #awake(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const abort = (): void => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    this.#wake = resolve;
    await promise.finally(() => {
      this.#wake = undefined;
      signal.removeEventListener('abort', abort);
    });
  }
}
