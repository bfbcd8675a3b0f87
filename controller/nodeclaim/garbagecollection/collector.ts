import { isConflict, isNotFound } from '#kube/client/errors.ts';
import { getCondition } from '#kube/conditions.ts';
import { MachineError } from '#machine/errors.ts';
import type { Instance } from '#machine/machine.ts';
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import { nodeClaims } from '#schemas/karpenter/types.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { annotations } from '#schemas/names.ts';
import type { ResolvedNodeClass } from '#schemas/nodeclass/types.ts';
import { parseProviderID } from '#schemas/provider-id.ts';
import { seconds } from '#schemas/time/clock.ts';

import type { Clouds } from '../../clouds.ts';
import type { Context } from '../../context.ts';
import type { Revisions } from '../../nodeclass/revisions.ts';
import { isOurs } from '../../ours.ts';

/** A cloud may not list a new instance yet: for this long after its launch its absence proves nothing. */
const invisible = seconds(60);

/**
 * Cluster → cloud collection: a NodeClaim whose instance was ended by somebody else, or stopped, is deleted, so that
 * its Pods find another machine. A stopped instance is not gone: the termination chain ends it.
 *
 * One list of instances per region serves all claims; when it cannot be had, nobody is judged.
 */
export class Collector {
  readonly #context: Context;
  readonly #clouds: Clouds;
  readonly #revisions: Revisions;

  constructor(context: Context, clouds: Clouds, revisions: Revisions) {
    this.#context = context;
    this.#clouds = clouds;
    this.#revisions = revisions;
  }

  async collect(signal: AbortSignal): Promise<void> {
    const launched = this.#context.caches.nodeClaims
      .list()
      .filter((claim) => this.#isSettled(claim));
    const byRevision = Map.groupBy(launched, revisionOf);
    await Promise.all(
      [...byRevision].map(async ([name, claims]) => {
        const nodeClass = name === undefined ? undefined : this.#revisions.get(name);
        if (nodeClass) await this.#judge(nodeClass, claims, signal);
      }),
    );
  }

  async #judge(
    nodeClass: ResolvedNodeClass,
    claims: readonly Live<NodeClaim>[],
    signal: AbortSignal,
  ): Promise<void> {
    const instances = await this.#shown(nodeClass, signal);
    if (!instances) return;
    const known = new Map(instances.map((instance) => [instance.id, instance]));
    await Promise.all(
      claims.map(async (claim) => {
        const id = parseProviderID(claim.status?.providerID ?? '')?.id;
        const why = id === undefined ? undefined : fateOf(id, known.get(id));
        if (why !== undefined) await this.#delete(claim, why);
      }),
    );
  }

  async #shown(
    nodeClass: ResolvedNodeClass,
    signal: AbortSignal,
  ): Promise<readonly Instance[] | undefined> {
    try {
      const cloud = await this.#clouds.for(nodeClass.spec);
      return await cloud.snapshot(nodeClass, this.#context.clusterUid, signal);
    } catch (error) {
      if (!(error instanceof MachineError)) throw error;
      const { code, reason, message } = error;
      this.#context.log.warn({ code, reason, message }, 'cannot list instances, judging nobody');
      return undefined;
    }
  }

  async #delete(claim: Live<NodeClaim>, why: string): Promise<void> {
    const { name, uid } = claim.metadata;
    const message = `${why}; the claim ends and its Pods find another machine (KPU330)`;
    const { recorder, client } = this.#context;
    recorder.record({ object: claim, type: 'Warning', reason: 'InstanceEnded', message });
    await client.delete(nodeClaims, { name }, { uid }).catch((error: unknown) => {
      if (!isNotFound(error) && !isConflict(error)) throw error;
    });
  }

  #isSettled(claim: Live<NodeClaim>): boolean {
    if (!isOurs(claim) || claim.metadata.deletionTimestamp !== undefined) return false;
    const launched = getCondition(claim.status?.conditions, 'Launched');
    if (launched?.status !== 'True' || launched.lastTransitionTime === undefined) return false;
    const { clock } = this.#context;
    return clock.now() - clock.from(launched.lastTransitionTime) > invisible;
  }
}

function revisionOf(claim: Live<NodeClaim>): string | undefined {
  return claim.metadata.annotations?.[annotations.revision];
}

/** @returns undefined for an instance that is well */
function fateOf(id: string, instance: Instance | undefined): string | undefined {
  if (!instance) return `The cloud no longer knows instance ${id}`;
  if (instance.state === 'pending' || instance.state === 'running') return undefined;
  const why = instance.stateReason === undefined ? '' : `: ${instance.stateReason}`;
  return `Instance ${id} is ${instance.state}${why}`;
}
