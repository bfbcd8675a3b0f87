/** One thing that a cluster left. */
export interface Leftover {
  readonly kind: 'name' | 'instance' | 'volume' | 'interface';
  /** Unique in its place: `i-…`, `vol-…`, a name in DNS. */
  readonly id: string;
  /** What a person recognises it by, under the heads of its columns: `{ type: 'm8i.large', state: 'running' }`. */
  readonly facts: Readonly<Record<string, string | undefined>>;
}

/** Something that could not be removed. */
export interface Failure {
  readonly id: string;
  /** One sentence, with a code where there is one. */
  readonly why: string;
}

/** Where things of one kind are left: the names of a zone, the instances of a region. */
export interface Place {
  /** `instances in eu-central-1` */
  readonly name: string;
  /** All that is the cluster's. Throws where anything could be missing: a part is never an answer. */
  list(signal: AbortSignal): Promise<readonly Leftover[]>;
  /**
   * Removes those of `shown` that are still there and still the cluster's; resolves when they are gone. What fails does
   * not stop the others.
   *
   * @returns what is still there, and why
   */
  remove(shown: readonly Leftover[], signal: AbortSignal): Promise<readonly Failure[]>;
}

/** Places in the order in which they are emptied; see `Cleaning.places`. */
export interface Places {
  readonly names: readonly Place[];
  readonly instances: readonly Place[];
  /** Disks and network interfaces. */
  readonly parts: readonly Place[];
}
