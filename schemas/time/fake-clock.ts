import type { Clock, Duration, Instant } from './clock.ts';
import { sleepOn } from './sleep.ts';
import { toTimestamp } from './system-clock.ts';

interface Timer {
  readonly at: Instant;
  readonly action: () => void;
}

/**
 * A clock for tests. Without `real` it stands still until {@link FakeClock.forward}; with `real` it runs at real
 * speed beside a real API server and can jump as well, keeping for each jump where it lay, so that
 * {@link FakeClock.from} maps timestamps over the jumps.
 */
export class FakeClock implements Clock {
  readonly #real: (() => number) | undefined;
  readonly #start: number;
  readonly #jumps: { readonly atReal: number; readonly by: Duration }[] = [];
  #jumped = 0;
  #timers: Timer[] = [];
  #wake: NodeJS.Timeout | undefined;

  constructor(options: { real?: () => number; start?: number } = {}) {
    this.#real = options.real;
    this.#start = options.start ?? Date.parse('2026-01-01T00:00:00Z');
  }

  now(): Instant {
    return this.#realNow() + this.#jumped;
  }

  from(timestamp: string): Instant {
    const real = Date.parse(timestamp);
    if (!this.#real) return real;
    const before = this.#jumps.filter((jump) => jump.atReal <= real);
    return real + before.reduce((sum, jump) => sum + jump.by, 0);
  }

  stamp(): string {
    return toTimestamp(this.#real ? this.#real() : this.now());
  }

  async sleep(duration: Duration, signal?: AbortSignal): Promise<void> {
    await sleepOn(this, duration, signal);
  }

  after(duration: Duration, action: () => void): () => void {
    const timer: Timer = { at: this.now() + duration, action };
    this.#timers.push(timer);
    this.#arm();
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /**
   * Moves the clock and runs what falls due on the way, in order, letting promises settle between timers.
   * A frozen clock moves through each due instant; one that runs with real time jumps when its next second begins,
   * since API timestamps are of whole seconds: what was stamped before lies before the jump, and the rest behind it.
   */
  async forward(duration: Duration): Promise<void> {
    await settle(); // what was started just before may be about to set a timer
    if (this.#real) {
      await this.#turnOfSecond(this.#real);
      this.#jump(duration);
      await this.#runDue(this.now());
      this.#arm();
      return;
    }
    const end = this.now() + duration;
    for (let next = this.#next(); next && next.at <= end; next = this.#next()) {
      this.#jumped += Math.max(0, next.at - this.now());
      // oxlint-disable-next-line no-await-in-loop -- one instant after the other is the point
      await this.#runDue(next.at);
    }
    this.#jumped += end - this.now();
    await settle();
  }

  /** How many timers wait, for tests that must know whether something is scheduled. */
  get waiting(): number {
    return this.#timers.length;
  }

  #realNow(): number {
    return this.#real ? this.#real() : this.#start;
  }

  async #turnOfSecond(real: () => number): Promise<void> {
    const next = Math.ceil(real() / 1000) * 1000;
    while (real() < next) {
      // oxlint-disable-next-line no-await-in-loop -- timers may be early by a millisecond
      await new Promise((resolve) => setTimeout(resolve, next - real()));
    }
  }

  #jump(by: Duration): void {
    this.#jumps.push({ atReal: Math.floor(this.#realNow() / 1000) * 1000, by });
    this.#jumped += by;
  }

  #next(): Timer | undefined {
    return this.#timers.toSorted((a, b) => a.at - b.at)[0];
  }

  async #runDue(now: Instant): Promise<void> {
    const due = this.#timers.filter((timer) => timer.at <= now).toSorted((a, b) => a.at - b.at);
    this.#timers = this.#timers.filter((timer) => timer.at > now);
    for (const timer of due) timer.action();
    await settle();
  }

  /** With real time behind it, one real timer wakes the clock for the earliest of its own. */
  #arm(): void {
    if (!this.#real) return;
    clearTimeout(this.#wake);
    const next = this.#next();
    if (!next) return;
    this.#wake = setTimeout(
      () => {
        void this.#runDue(this.now()).then(() => this.#arm());
      },
      Math.max(0, next.at - this.now()),
    );
    this.#wake.unref();
  }
}

/** Lets every promise that can go on do so. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) {
    // oxlint-disable-next-line no-await-in-loop -- each turn lets the next layer of promises run
    await new Promise((resolve) => setImmediate(resolve));
  }
}
