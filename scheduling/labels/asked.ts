import { isRestricted, unnamed } from '../refusing.ts';
import type { Requirements } from '../requirements.ts';

/** What Pods ask of labels, once for all Pods that ask the same, so that answers can be kept by identity. */
export class Asked {
  readonly requirements: Requirements;
  /** What a new node must be made for; host names are made up later. */
  readonly ofNew: Requirements;
  /** A key that no new node can be made for. */
  readonly restricted: string | undefined;

  constructor(requirements: Requirements) {
    this.requirements = requirements;
    this.ofNew = unnamed(requirements);
    this.restricted = [...requirements].find(([key, set]) => isRestricted(key, set))?.[0];
  }
}

/** All that is asked in one pass. */
export class Wishes {
  readonly #known = new Map<string, Asked>();
  readonly #keys = new Set<string>();
  readonly #anything = new Asked(new Map());

  of(requirements: Requirements): Asked {
    if (requirements.size === 0) return this.#anything;
    const id = idOf(requirements);
    const known = this.#known.get(id);
    if (known) return known;
    const asked = new Asked(requirements);
    for (const key of requirements.keys()) this.#keys.add(key);
    this.#known.set(id, asked);
    return asked;
  }

  /** Keys that anybody asks about: no other label of a node matters. */
  get keys(): ReadonlySet<string> {
    return this.#keys;
  }
}

/** The same for requirements that say the same. */
export function idOf(requirements: Requirements): string {
  const parts = [...requirements].map(([key, set]) => `${key}\0${set.id}`);
  return parts.toSorted().join('\n');
}
