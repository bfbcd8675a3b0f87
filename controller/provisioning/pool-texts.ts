import type { NodePool } from '#schemas/karpenter/types.ts';

/** What the last pass found to say of each pool, for a condition that the NodePool controller, its one writer, shows. */
export class PoolTexts {
  /** Of the condition. */
  readonly #type: string;
  /** Pool → what is to be said of it; undefined where nothing is. */
  readonly #texts = new Map<string, string | undefined>();
  readonly #listeners = new Set<(pool: string) => void>();

  constructor(type: string) {
    this.#type = type;
  }

  /** @returns the text, if it is news */
  set(pool: string, text: string | undefined): string | undefined {
    const isKnown = this.#texts.has(pool);
    const before = this.#texts.get(pool);
    this.#texts.set(pool, text);
    if (isKnown && before === text) return undefined;
    this.#listeners.forEach((listener) => listener(pool));
    return text;
  }

  forget(pool: string): void {
    this.#texts.delete(pool);
  }

  subscribe(listener: (pool: string) => void): void {
    this.#listeners.add(listener);
  }

  /**
   * @returns the text; null where nothing is to be said any more; undefined before the first pass, and where nothing ever
   * was, so that such a pool gets no condition
   */
  textOf({ metadata, status }: NodePool): string | null | undefined {
    const name = metadata?.name ?? '';
    const text = this.#texts.get(name);
    if (text !== undefined || !this.#texts.has(name)) return text;
    return status?.conditions?.some(({ type }) => type === this.#type) ? null : undefined;
  }
}
