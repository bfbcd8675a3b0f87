import type { Duration } from '#schemas/time/clock.ts';

import type { ClaimInHand } from './claim-in-hand.ts';

/** What a step found, and so what happens next. */
export type Outcome =
  | { readonly kind: 'done' }
  /** Not yet: look again after a while (absent: when something changes). The condition says why. */
  | {
      readonly kind: 'wait';
      readonly after?: Duration;
      readonly reason: string;
      readonly message: string;
      readonly status?: 'Unknown' | 'False';
      /** The world outside refused something: a person may have to act, so an event says it too. */
      readonly failed?: boolean;
      /** An error that no step foresaw: the pass is brought to its end, then the work queue gets it. */
      readonly thrown?: unknown;
    }
  /** Something that earlier steps decided no longer holds: start the chain again at once. */
  | { readonly kind: 'again' }
  /** This claim cannot succeed: it is deleted, and the scheduler decides anew. */
  | { readonly kind: 'end'; readonly end: End };

/** Why a claim ends before its time. */
export interface End {
  /** Label `reason` of karpenter_nodeclaims_disrupted_total; upstream's values where they mean the same. */
  readonly metric: string;
  /** Reason of the event on the claim. */
  readonly reason: string;
  readonly message: string;
}

/**
 * One step of a machine's life. It looks at the world before it acts, remembers nothing between calls, and does
 * nothing when what it would do is done. A thrown MachineError becomes an outcome by its `next`, any other error a
 * wait that the work queue decides on.
 */
export interface Step {
  /** The condition on the NodeClaim that tells how far this step is; steps without one tell nothing of their own. */
  readonly condition?: string;
  /** Of a step without one: the condition of a later step that cannot be while this one waits, which says why it does. */
  readonly waitsIn?: string;
  /** Looked at on every pass, also when its condition is True already. */
  readonly always?: boolean;
  run(hand: ClaimInHand, signal: AbortSignal): Promise<Outcome>;
}

export const done = (): Outcome => ({ kind: 'done' });
export const again = (): Outcome => ({ kind: 'again' });
export const end = (of: End): Outcome => ({ kind: 'end', end: of });
export const wait = (why: {
  after?: Duration;
  reason: string;
  message: string;
  status?: 'Unknown' | 'False';
  failed?: boolean;
  thrown?: unknown;
}): Outcome => ({ kind: 'wait', ...why });
