/** A process that died: no call of it gets through any more. */
export class Crash extends Error {
  override readonly name = 'Crash';
}

/**
 * Stands between a process and the world, and can end the process before or after any one call: what was asked for
 * may have been done, and the process never knows.
 *
 * Each call has two points, before it takes effect and before its answer arrives.
 */
export class Tripwire {
  /** What passed, in order: `cloud.launch before`. */
  readonly passed: string[] = [];
  #at: number | undefined;
  #action: (() => void | Promise<void>) | undefined;
  #isDead = false;

  /** Ends the process at the point with this number, counted from 0 over the whole life of the wire. */
  crashAt(point: number): void {
    this.#at = point;
    this.#action = () => {
      this.#isDead = true;
    };
  }

  /** Does something at that point, and lets the process go on. */
  doAt(point: number, action: () => void | Promise<void>): void {
    this.#at = point;
    this.#action = action;
  }

  /** A new process: its calls get through. */
  mend(): void {
    this.#isDead = false;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** The same object, with every method on the wire. */
  on<T extends object>(name: string, target: T): T {
    return new Proxy(target, {
      get: (_, key) => {
        const member: unknown = Reflect.get(target, key, target);
        if (typeof member !== 'function') return member;
        return async (...values: unknown[]): Promise<unknown> => {
          await this.#pass(`${name}.${String(key)} before`);
          const answer: unknown = await Reflect.apply(member, target, values);
          await this.#pass(`${name}.${String(key)} after`);
          return answer;
        };
      },
    });
  }

  async #pass(point: string): Promise<void> {
    if (!this.#isDead) {
      this.passed.push(point);
      if (this.passed.length - 1 === this.#at) await this.#action?.();
    }
    if (this.#isDead) throw new Crash(point);
  }
}
