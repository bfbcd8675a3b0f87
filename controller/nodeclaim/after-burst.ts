import type { Informer } from '#kube/cache/informer.ts';
import type { Reconciler, Result } from '#kube/runtime/reconciler.ts';
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import { annotations } from '#schemas/names.ts';
import { milliseconds } from '#schemas/time/clock.ts';

import type { Burst } from '../reservations/burst.ts';

/** A machine takes minutes, so nobody sees these. */
const soon = milliseconds(100);

/** Leaves claims alone that nothing was done for, while others of their plan are still being written: see {@link Burst}. */
export class AfterBurst implements Reconciler {
  readonly #inner: Reconciler;
  readonly #claims: Pick<Informer<NodeClaim>, 'get'>;
  readonly #burst: Burst;

  constructor(inner: Reconciler, claims: Pick<Informer<NodeClaim>, 'get'>, burst: Burst) {
    this.#inner = inner;
    this.#claims = claims;
    this.#burst = burst;
  }

  async reconcile(key: string, signal: AbortSignal): Promise<Result> {
    const claim = this.#burst.isUnderWay ? this.#claims.get(key) : undefined;
    return claim && isNew(claim) ? { requeueAfter: soon } : this.#inner.reconcile(key, signal);
  }
}

/** Stamped with a revision is each claim that somebody may have launched a machine for. */
function isNew({ metadata = {}, status }: NodeClaim): boolean {
  const isStamped = metadata.annotations?.[annotations.revision] !== undefined;
  return !isStamped && status?.providerID === undefined && metadata.deletionTimestamp === undefined;
}
