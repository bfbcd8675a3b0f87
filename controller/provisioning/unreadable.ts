import type { Logger } from '#kube/log.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { InvalidQuantity } from '#schemas/quantity/quantity.ts';

/** Objects with amounts that cannot be read: each is left out, so that none of them keeps all others waiting. */
export class Unreadable {
  readonly #log: Logger;
  /** Objects of the caches never change, and one line for each will do. */
  readonly #told = new WeakSet<object>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** What is read of the object; undefined when it, or a Pod that is on it, holds a text that is no quantity. */
  without<T>(kind: string, object: Live<object>, read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof InvalidQuantity)) throw error;
      this.tell(kind, object, error);
      return undefined;
    }
  }

  tell(kind: string, object: Live<object>, { message }: InvalidQuantity): void {
    if (this.#told.has(object)) return;
    this.#told.add(object);
    const { name, namespace } = object.metadata;
    const facts = { kind, name, ...(namespace !== undefined && { namespace }), error: message };
    this.#log.warn(facts, 'left out of the plan, since its amounts cannot be read');
  }
}
