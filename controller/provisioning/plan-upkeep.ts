import { getCondition } from '#kube/conditions.ts';
import type { Duration } from '#schemas/time/clock.ts';

import type { Context } from '../context.ts';
import type { ClaimsInSight } from './claims-in-sight.ts';
import { bindingGrace } from './live-nomination.ts';
import type { Nominations } from './nominations.ts';
import type { Slices } from './slices.ts';

/**
 * Ends plans whose time is over, so that no Pod waits for a machine that is not coming, or is full.
 *
 * A plan outlives its Node's start by twice the batch window and at least 20 s, time enough for the scheduler's own
 * back-off of up to 10 s; what is not bound by then is planned anew, with the Node as it is.
 */
export class PlanUpkeep {
  readonly #context: Context;
  readonly #nominations: Nominations;
  readonly #claims: ClaimsInSight;
  readonly #grace: Duration;

  constructor(
    context: Context,
    nominations: Nominations,
    claims: ClaimsInSight,
    batchMax: Duration,
  ) {
    this.#context = context;
    this.#nominations = nominations;
    this.#claims = claims;
    this.#grace = Math.max(2 * batchMax, bindingGrace);
  }

  /** A nomination that cannot be taken back is logged: it hides its Pod only while its Node exists. */
  async run(slices: Slices): Promise<void> {
    await slices.each(this.#nominations.planned, (claimName) =>
      this.#nominations.settle(claimName),
    );
    const over = this.#nominations.planned.filter((name) => this.#isOver(name));
    await Promise.all(over.map(async (name) => this.#forget(name)));
  }

  async #forget(claimName: string): Promise<void> {
    await this.#nominations.forget(claimName).catch((error: unknown) => {
      const facts = { nodeClaim: claimName, err: error };
      this.#context.log.warn(facts, 'nominations were not taken back');
    });
  }

  #isOver(claimName: string): boolean {
    const claim = this.#claims.get(claimName);
    if (!claim || claim.metadata.deletionTimestamp !== undefined) return true;
    const opened = getCondition(claim.status?.conditions, 'Initialized');
    if (opened?.status !== 'True') return false;
    const { clock } = this.#context;
    return clock.now() - clock.from(opened.lastTransitionTime ?? clock.stamp()) > this.#grace;
  }
}
