import type { Clock, Duration } from '#schemas/time/clock.ts';

import type { Watch } from './watch.ts';

/**
 * Wakes each key at once, and then once in a while with all that came meanwhile. For what counts objects, or sums them up:
 * a hundred of them that come in a second would each have all of them counted.
 *
 * @param pause  how long a change may go unseen
 * @example paced(watch(caches.nodeClaims, poolOf), clock, seconds(1))
 */
export function paced(inner: Watch, clock: Pick<Clock, 'after'>, pause: Duration): Watch {
  return {
    kind: inner.kind,
    whenSynced: async (signal) => inner.whenSynced(signal),
    subscribe: (enqueue, failed) => {
      const pacing = new Pacing(enqueue, clock, pause);
      const end = inner.subscribe((key) => pacing.wake(key), failed);
      return () => {
        end();
        pacing.end();
      };
    },
  };
}

interface Pause {
  isWanted: boolean;
  readonly cancel: () => void;
}

class Pacing {
  readonly #enqueue: (key: string) => void;
  readonly #clock: Pick<Clock, 'after'>;
  readonly #pause: Duration;
  readonly #pauses = new Map<string, Pause>();

  constructor(enqueue: (key: string) => void, clock: Pick<Clock, 'after'>, pause: Duration) {
    this.#enqueue = enqueue;
    this.#clock = clock;
    this.#pause = pause;
  }

  wake(key: string): void {
    const pause = this.#pauses.get(key);
    if (pause) {
      pause.isWanted = true;
      return;
    }
    const cancel = this.#clock.after(this.#pause, () => this.#over(key));
    this.#pauses.set(key, { isWanted: false, cancel });
    this.#enqueue(key);
  }

  end(): void {
    for (const { cancel } of this.#pauses.values()) cancel();
    this.#pauses.clear();
  }

  #over(key: string): void {
    const isWanted = this.#pauses.get(key)?.isWanted === true;
    this.#pauses.delete(key);
    if (isWanted) this.wake(key);
  }
}
