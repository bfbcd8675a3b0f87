import { seconds, type Clock, type Duration } from '#schemas/time/clock.ts';

/** Says what a long job does, to a person or a log, so that nobody takes it for dead. */
export interface Progress {
  say(line: string): void;
  /** Runs `work` and says that it began, that it still goes on, and how long it took. */
  step<T>(what: string, work: (note: (detail: string) => void) => Promise<T>): Promise<T>;
}

/** Where progress goes; standard error as a rule, since standard output carries results. */
export interface Screen {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/**
 * On a terminal one line that counts the seconds; when piped plain lines, one at least every 20 s, since
 * build systems end jobs that are silent.
 */
export class ScreenProgress implements Progress {
  readonly #screen: Screen;
  readonly #clock: Clock;

  constructor(screen: Screen, clock: Clock) {
    this.#screen = screen;
    this.#clock = clock;
  }

  say(line: string): void {
    this.#screen.write(`${line}\n`);
  }

  async step<T>(what: string, work: (note: (detail: string) => void) => Promise<T>): Promise<T> {
    const start = this.#clock.now();
    let detail = '';
    const line = (): string =>
      [`${what} … ${elapsed(this.#clock.now() - start)}`, detail].filter(Boolean).join('  ');
    const stop = this.#screen.isTTY ? this.#tick(line) : this.#repeat(what, line);
    try {
      const result = await work((text) => (detail = text));
      stop();
      this.say(`${what}: ${elapsed(this.#clock.now() - start)}`);
      return result;
    } catch (error) {
      stop();
      this.say(`${what}: failed after ${elapsed(this.#clock.now() - start)}`);
      throw error;
    }
  }

  #tick(line: () => string): () => void {
    const draw = (): void => {
      const width = (this.#screen.columns ?? 80) - 1;
      this.#screen.write(`\r\u001B[K${line().slice(0, width)}`);
    };
    draw();
    const stop = every(this.#clock, seconds(1), draw);
    return () => {
      stop();
      this.#screen.write('\r\u001B[K');
    };
  }

  #repeat(what: string, line: () => string): () => void {
    this.say(`${what} …`);
    return every(this.#clock, seconds(20), () => this.say(line()));
  }
}

/** `9 s`, `7 min 30 s`. */
export function elapsed(duration: Duration): string {
  const total = Math.round(duration / 1000);
  return total < 60 ? `${total} s` : `${Math.floor(total / 60)} min ${total % 60} s`;
}

function every(clock: Clock, period: Duration, action: () => void): () => void {
  let cancel = (): void => {};
  const arm = (): void => {
    cancel = clock.after(period, () => {
      arm();
      action();
    });
  };
  arm();
  return () => cancel();
}
