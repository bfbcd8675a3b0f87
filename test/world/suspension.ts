import type { KubeClient } from '#kube/client/client.ts';
import { ApiError } from '#kube/client/errors.ts';

import type { Between } from './in-process-kraftlet.ts';

interface Suspended {
  readonly until: Promise<void>;
  wake(): void;
}

/**
 * Kraftlets that can be held as a computer is that is suspended: what one was about to ask the API server it asks
 * when it wakes, and believes that no time has passed.
 */
export class Suspension {
  readonly #asleep = new Map<string, Suspended>();
  readonly #underWay = new Map<string, Set<Promise<unknown>>>();
  /** HTTP codes that were answered, by UID of the Pod; 200 for whatever was not refused. */
  readonly #answers = new Map<string, number[]>();

  readonly between: Between = (client, { pod }) => this.#held(client, pod.metadata.uid);

  /** Resolves when the last call that was under way has its answer. */
  async suspend(uid: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#asleep.set(uid, { until: promise, wake: resolve });
    await Promise.allSettled(this.#underWay.get(uid) ?? new Set<Promise<unknown>>());
    this.#answers.delete(uid);
  }

  wake(uid: string): void {
    this.#asleep.get(uid)?.wake();
    this.#asleep.delete(uid);
  }

  /** Since it was suspended. */
  answersTo(uid: string): readonly number[] {
    return this.#answers.get(uid) ?? [];
  }

  #held(client: KubeClient, uid: string): KubeClient {
    return new Proxy(client, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        const act = (...args: unknown[]): unknown => Reflect.apply(member, target, args) as unknown;
        return name === 'watch'
          ? act
          : async (...args: unknown[]) => this.#ask(uid, () => act(...args));
      },
    });
  }

  async #ask(uid: string, act: () => unknown): Promise<unknown> {
    await this.#asleep.get(uid)?.until;
    const call = Promise.resolve(act());
    const underWay = this.#underWay.get(uid) ?? new Set();
    this.#underWay.set(uid, underWay.add(call));
    const answers = this.#answers.get(uid) ?? [];
    this.#answers.set(uid, answers);
    try {
      const answer = await call;
      answers.push(200);
      return answer;
    } catch (error) {
      if (error instanceof ApiError) answers.push(error.code);
      throw error;
    } finally {
      underWay.delete(call);
    }
  }
}
