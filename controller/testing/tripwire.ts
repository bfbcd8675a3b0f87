/** A process that died: no call of it gets through any more. */
export class Crash extends Error {
  override readonly name = 'Crash';
}

/**
 * Stands between a process and the world, and can end the process before or after any call: what was asked for
 * may have been done, and the process never knows.
 *
 * Each call has two points, before it takes effect and before its answer arrives.
 */
export class Tripwire {
  /** What passed, in order: `cloud.launch before`. */
  readonly passed: string[] = [];
  readonly #actions = new Map<number, () => Promise<void>>();
  #isDead = false;
  #life = 0;

  /** Ends the process at the points with these numbers, counted from 0 over the whole life of the wire. */
  crashAt(...points: readonly number[]): void {
    for (const point of points) this.doAt(point, () => {}, true);
  }

  /** Does something at that point, and then ends the process or lets it go on. */
  doAt(point: number, action: () => void | Promise<void>, thenDie = false): void {
    this.#actions.set(point, async () => {
      await action();
      this.#isDead = thenDie;
    });
  }

  /** A new process: its calls get through. What the old one had under way stays without effect and answer. */
  mend(): void {
    this.#isDead = false;
    this.#life += 1;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** The same object for the present process, with every method on the wire. */
  on<T extends object>(name: string, target: T): T {
    const life = this.#life;
    return new Proxy(target, {
      get: (_, key) => {
        const member: unknown = Reflect.get(target, key, target);
        if (typeof member !== 'function') return member;
        return async (...values: unknown[]): Promise<unknown> => {
          await this.#pass(`${name}.${String(key)} before`, life);
          const answer: unknown = await Reflect.apply(member, target, values);
          await this.#pass(`${name}.${String(key)} after`, life);
          return answer;
        };
      },
    });
  }

  async #pass(point: string, life: number): Promise<void> {
    if (life !== this.#life) throw new Crash(point);
    if (!this.#isDead) {
      this.passed.push(point);
      await this.#actions.get(this.passed.length - 1)?.();
    }
    if (this.#isDead) throw new Crash(point);
  }
}
