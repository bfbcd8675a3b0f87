import { type Resource, resource } from '#schemas/kubernetes/resource.ts';
import type { Clock, Duration } from '#schemas/time/clock.ts';

import type { Cache } from '../manager.ts';
import type { Runnable } from '../reconciler.ts';

/** A part of a process that tells a story of when it began and ended. */
export class Part implements Runnable {
  readonly name: string;
  readonly #story: string[];
  readonly #clock: Clock;
  readonly #tidiesFor: Duration;
  readonly #failure = Promise.withResolvers<never>();

  constructor(name: string, story: string[], clock: Clock, tidiesFor: Duration = 0) {
    this.name = name;
    this.#story = story;
    this.#clock = clock;
    this.#tidiesFor = tidiesFor;
    this.#failure.promise.catch(() => {});
  }

  fail(error: Error): void {
    this.#failure.reject(error);
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#story.push(`+${this.name}`);
    const { promise, resolve } = Promise.withResolvers<void>();
    signal.addEventListener('abort', () => resolve(), { once: true });
    if (!signal.aborted) await Promise.race([promise, this.#failure.promise]);
    if (this.#tidiesFor > 0) await this.#clock.sleep(this.#tidiesFor);
    this.#story.push(`-${this.name}`);
  }
}

/** A cache that is full when a test says so. */
export class PartialCache extends Part implements Cache {
  readonly resource: Resource;
  readonly #full = Promise.withResolvers<void>();
  synced = false;

  constructor(kind: string, story: string[], clock: Clock) {
    super(kind, story, clock);
    this.resource = resource('v1', kind, `${kind.toLowerCase()}s`, 'Namespaced');
  }

  fill(): void {
    this.synced = true;
    this.#full.resolve();
  }

  async whenSynced(signal: AbortSignal): Promise<void> {
    const { promise, reject } = Promise.withResolvers<never>();
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    await Promise.race([this.#full.promise, promise]);
  }
}
