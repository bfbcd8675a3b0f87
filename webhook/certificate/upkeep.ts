import type { Clock, Duration } from '#schemas/time/clock.ts';

import type { Identity } from './identity.ts';
import { Wakeable } from './wakeable.ts';

/** What an {@link Identity} says of itself, as of its last look. */
interface Standing {
  trouble: string | undefined;
  live: readonly string[];
  hooks: number;
}

/** How every identity is kept up: by looking again, when it is time or when it is woken, and saying how it stands. */
export abstract class Upkeep implements Identity {
  abstract readonly name: string;
  protected readonly standing: Standing;
  readonly #sleeper: Wakeable;

  /** @param trouble until the first look */
  constructor(clock: Clock, trouble: string) {
    this.standing = { trouble, live: [], hooks: 0 };
    this.#sleeper = new Wakeable(clock);
  }

  get trouble(): string | undefined {
    return this.standing.trouble;
  }

  get live(): readonly string[] {
    return this.standing.live;
  }

  get hooks(): number {
    return this.standing.hooks;
  }

  wake(): void {
    this.#sleeper.wake();
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // oxlint-disable-next-line no-await-in-loop -- one look after the other
      const wait = await this.look();
      // oxlint-disable-next-line no-await-in-loop -- as above
      await this.#sleeper.sleep(wait, signal);
    }
  }

  /** Puts in order what is not; never rejects. @returns when to look again */
  abstract look(): Promise<Duration>;
}
