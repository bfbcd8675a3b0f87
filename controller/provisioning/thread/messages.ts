import type { DefaultSpread, Problem } from '#scheduling/solver.ts';

import type { ListName, Row } from './lists.ts';
import type { PartNews } from './parts.ts';

/** Some of what is not as the thread knows it. Told in this order, so that a part outlives the rows that name it. */
export interface Change {
  readonly kind: 'change';
  readonly parts: readonly PartNews[];
  readonly list: ListName;
  readonly set: readonly (readonly [key: string, row: Row])[];
  /** Keys of items that are no more. */
  readonly gone: readonly string[];
  /** Numbers of parts that nothing names any more. */
  readonly forget: readonly number[];
}

/** What is told anew each time. */
export interface Settings extends Pick<Problem, 'preferencePolicy' | 'minValuesPolicy'> {
  /** Constraints of the cluster's default spread, as JSON. */
  readonly defaultSpread?: string;
}

/** Everything was told: solve it. */
export interface Ask {
  readonly kind: 'solve';
  /** Of the problem: answers to one that nobody waits for any more are passed over. */
  readonly number: number;
  readonly settings: Settings;
  /** Lists that the problem tells of. */
  readonly lists: readonly ListName[];
}

export type ToThread = Change | Ask;

/** The compiler has seen what it needs to. */
interface Warm {
  readonly kind: 'warm';
}

export type FromThread =
  | Warm
  | ({
      /** Of the problem. */
      readonly number: number;
    } & (
      | {
          /** A piece of the plan, as JSON. */
          readonly kind: 'plan';
          readonly text: string;
        }
      | {
          /** All pieces were told. */
          readonly kind: 'solved';
          readonly milliseconds: number;
        }
      | {
          /** The problem is none that can be solved; the thread goes on. */
          readonly kind: 'failed';
          readonly name: string;
          readonly message: string;
          readonly stack: string;
        }
    ));

export type Constraints = DefaultSpread['constraints'];
