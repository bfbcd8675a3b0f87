import { labels } from '#schemas/names.ts';

/** A place has no certain value of a key yet. */
export const open = -1;
/** A place does not have the key at all. */
export const absent = -2;

/** The values that one topology key has, numbered as they are met. A host is numbered as its place is. */
export class Domains {
  readonly key: string;
  readonly isHost: boolean;
  readonly names: string[] = [];
  readonly #ids = new Map<string, number>();
  readonly #turn: number;
  #ranks: readonly number[] = [];

  /** @param turn  so many domains go from the head of the line to its end; see {@link ranks} */
  constructor(key: string, turn = 0) {
    this.key = key;
    this.isHost = key === labels.hostname;
    this.#turn = turn;
  }

  /** By domain, which of those that are equally good is taken first: A to Z. */
  get ranks(): readonly number[] {
    const { names } = this;
    if (this.#ranks.length !== names.length) {
      const sorted = names.map((_, id) => id).toSorted((a, b) => (names[a]! < names[b]! ? -1 : 1));
      const ranks: number[] = [];
      sorted.forEach((id, index) => {
        ranks[id] = (index + names.length - (this.#turn % names.length)) % names.length;
      });
      this.#ranks = ranks;
    }
    return this.#ranks;
  }

  idOf(value: string): number {
    const known = this.#ids.get(value);
    if (known !== undefined) return known;
    const id = this.names.push(value) - 1;
    this.#ids.set(value, id);
    return id;
  }
}

/** What is known about the nodes of a place: rules over Pods ask it where a Pod would come to be. */
export interface Whereabouts {
  /** The domain it surely has, {@link open} or {@link absent}; never asked about hosts. */
  domainOf(domains: Domains): number;
  /** Every domain that it has or may come to have. */
  possible(domains: Domains): readonly number[];
}
