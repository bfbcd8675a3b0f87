import type { Namespaces } from './counter.ts';
import { Selector, type Labels } from './selector.ts';
import type { PodTerm } from './terms.ts';

/** Which namespaces rules look into, each set once. */
export class NamespaceSets {
  readonly #labels: ReadonlyMap<string, Labels> | undefined;
  readonly #known = new Map<string, Namespaces>();
  readonly #single = new Map<string, Namespaces>();

  /** @param all labels of every namespace; undefined when nobody knows */
  constructor(all: ReadonlyMap<string, Labels> | undefined) {
    this.#labels = all;
  }

  only(namespace: string): Namespaces {
    const known = this.#single.get(namespace) ?? this.#of([namespace]);
    this.#single.set(namespace, known);
    return known;
  }

  /**
   * The namespaces that are listed and those that are selected; the Pod's own when nothing is said. An empty selector
   * selects all.
   */
  in({ namespaces = [], namespaceSelector }: PodTerm, own: string): Namespaces {
    if (!namespaceSelector) return namespaces.length > 0 ? this.#of(namespaces) : this.only(own);
    const selector = new Selector(namespaceSelector);
    if (selector.keys.length === 0) return everywhere;
    const selected = [...(this.#labels ?? [])]
      .filter(([, given]) => selector.matches(given))
      .map(([name]) => name);
    return this.#of([...namespaces, ...selected]);
  }

  /** False when a rule selects namespaces by labels that nobody knows. */
  canTell({ namespaceSelector }: PodTerm): boolean {
    if (!namespaceSelector || this.#labels) return true;
    return new Selector(namespaceSelector).keys.length === 0;
  }

  #of(names: readonly string[]): Namespaces {
    const all = new Set(names);
    const id = JSON.stringify([...all].toSorted());
    const known = this.#known.get(id) ?? { has: (name) => all.has(name) };
    this.#known.set(id, known);
    return known;
  }
}

const everywhere: Namespaces = { has: () => true };
