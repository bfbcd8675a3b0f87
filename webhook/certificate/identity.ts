import type { Runnable } from '#kube/runtime/reconciler.ts';

/** Where the listener's certificate comes from, and what the API server trusts; kept up for as long as it runs. */
export interface Identity extends Runnable {
  /** Why the API server may not trust this process; undefined when it does, as far as is known. */
  readonly trouble: string | undefined;
  /** The bundles (PEM) in the live configurations: each has to lead to what is served. */
  readonly live: readonly string[];
  /** Entries of the live configurations; 0: the API server calls nobody. */
  readonly hooks: number;
  /** Looks at once whether the Secret has changed. */
  wake(): void;
}
