import type { Event } from '#schemas/kubernetes/core.ts';
import type { KubeObject, Live } from '#schemas/kubernetes/meta.ts';
import type { Resource } from '#schemas/kubernetes/resource.ts';

import type { KubeClient, WriteOptions } from '../../client/client.ts';

/** The part of an API server that takes events. */
export class EventSink implements Pick<KubeClient, 'create'> {
  readonly created: Event[] = [];
  readonly #refusals: Error[] = [];
  /** How often it was called. */
  asked = 0;
  /** Answers nothing until the caller gives up. */
  hangs = false;

  refuseNext(error: Error): void {
    this.#refusals.push(error);
  }

  async create<T extends KubeObject>(
    _: Resource<T>,
    object: T,
    options: WriteOptions = {},
  ): Promise<Live<T>> {
    this.asked += 1;
    if (this.hangs)
      await new Promise((_resolve, reject) => {
        options.signal?.addEventListener('abort', () => reject(options.signal?.reason));
      });
    const refusal = this.#refusals.shift();
    if (refusal) throw refusal;
    this.created.push(object as unknown as Event);
    return object as Live<T>;
  }
}
