import { ApiError, isForbidden, isInvalid, isNotFound } from '#kube/client/errors.ts';
import type { Metrics } from '#kube/metrics.ts';
import type { PlannedClaim } from '#scheduling/solver.ts';
import { nodeClaims, type NodeClaim, type NodePool } from '#schemas/karpenter/types.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { keyText } from '#schemas/kubernetes/resource.ts';

import type { Context } from '../context.ts';
import type { Reservations } from '../reservations/reservations.ts';
import { claimFor } from './claim-object.ts';
import type { ProvisioningEvents } from './events.ts';
import type { Nominations } from './nominations.ts';
import { inParallel, rejectFirst } from './parallel.ts';
import type { RestingPools } from './resting-pools.ts';
import type { WantedClaim } from './still-wanted.ts';

type Made = (claim: Live<NodeClaim>, wanted: WantedClaim) => void;

/**
 * Writes that are under way, or wait in the client's line for one of its connections: these hold a burst back. A lease that
 * is to be renewed stands behind no more than a second or two of writes.
 */
const width = 200;

interface Written {
  readonly claim: Live<NodeClaim>;
  readonly pool: Live<NodePool>;
  readonly planned: PlannedClaim;
}

/**
 * Turns planned machines into NodeClaims: all claims first, then their room in the pools' limits, in as few writes as
 * there are ledgers. A claim that finds no room is deleted before anything is launched for it; one that does not get to
 * ask here asks when it is worked on.
 */
export class Launcher {
  readonly #context: Context;
  readonly #reservations: Reservations;
  readonly #nominations: Nominations;
  readonly #events: ProvisioningEvents;
  readonly #metrics: Metrics;
  readonly #resting: RestingPools;

  constructor(
    context: Context,
    parts: {
      reservations: Reservations;
      nominations: Nominations;
      events: ProvisioningEvents;
      metrics: Metrics;
      resting: RestingPools;
    },
  ) {
    this.#context = context;
    this.#reservations = parts.reservations;
    this.#nominations = parts.nominations;
    this.#events = parts.events;
    this.#metrics = parts.metrics;
    this.#resting = parts.resting;
  }

  /**
   * A claim that is refused lets its pool rest; the others are made.
   *
   * @param made  told of each claim as soon as it is there
   * @throws the first failure that is nobody's own (the API server is away), after all were tried; what was made stays
   */
  async launch(wanted: readonly WantedClaim[], made: Made): Promise<void> {
    if (wanted.length === 0) return;
    await this.#reservations.burst.during(async () => {
      const writes = await inParallel(wanted, width, async (one) => this.#write(one, made));
      const written = writes.flatMap((one) => (one.status === 'fulfilled' && one.value) || []);
      const rooms = await Promise.allSettled(written.map(async (one) => this.#reserve(one)));
      rejectFirst([...writes, ...rooms]);
    });
  }

  async #write(wanted: WantedClaim, made: Made): Promise<Written | undefined> {
    const { planned, waiting, leaving } = wanted;
    const pool = this.#context.caches.nodePools.get(planned.nodePool);
    const claim = pool && (await this.#create(wanted, pool));
    if (!claim) return undefined;
    made(claim, wanted);
    this.#resting.forget(planned.nodePool);
    const { name } = claim.metadata;
    this.#nominations.plan(name, waiting);
    this.#nominations.kept.add(
      name,
      leaving.map(({ metadata }) => keyText(metadata)),
    );
    this.#count(pool);
    const facts = {
      nodeClaim: name,
      nodePool: planned.nodePool,
      pods: waiting.length,
      leaving: leaving.length,
    };
    this.#context.log.info(facts, 'made a NodeClaim');
    return { claim, pool, planned };
  }

  async #create(
    { planned, waiting, leaving }: WantedClaim,
    pool: Live<NodePool>,
  ): Promise<Live<NodeClaim> | undefined> {
    const { client, log } = this.#context;
    try {
      return await client.create(nodeClaims, claimFor(planned, pool, [...waiting, ...leaving]));
    } catch (error) {
      this.#events.notMade(pool, error);
      if (!(error instanceof ApiError) || !(isInvalid(error) || isForbidden(error))) throw error;
      const { nodePool } = planned;
      this.#resting.refused(nodePool, `its NodeClaim was refused: ${error.text}`);
      log.warn({ nodePool, err: error }, 'a NodeClaim was refused, its pool rests');
      return undefined;
    }
  }

  async #reserve({ claim, pool, planned }: Written): Promise<void> {
    const size = planned.instanceTypes[0]?.capacity ?? planned.requests;
    const verdict = await this.#reservations.reserve(pool, claim, size);
    if (verdict.granted) return;
    const { name, uid } = claim.metadata;
    this.#context.log.info({ nodeClaim: name, ...verdict }, 'the pool has no room, the claim goes');
    await this.#nominations.forget(name);
    await this.#context.client.delete(nodeClaims, { name }, { uid }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }

  #count({ metadata }: Live<NodePool>): void {
    this.#metrics
      .counter('karpenter_nodeclaims_created_total', 'NodeClaims made.', [
        'reason',
        'nodepool',
        'min_values_relaxed',
      ])
      .inc({ reason: 'provisioned', nodepool: metadata.name, min_values_relaxed: 'false' });
  }
}
