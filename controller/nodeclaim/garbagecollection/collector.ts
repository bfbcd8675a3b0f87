import { isConflict, isNotFound } from '#kube/client/errors.ts';
import type { CloudProvider } from '#machine/cloud/provider.ts';
import { MachineError } from '#machine/errors.ts';
import type { Instance } from '#machine/machine.ts';
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import { nodeClaims } from '#schemas/karpenter/types.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';

import type { Clouds } from '../../clouds.ts';
import type { Context } from '../../context.ts';
import type { Revisions } from '../../nodeclass/revisions.ts';
import { identityOf } from '../steps/claim-in-hand.ts';
import { settledFleets, type Fleet } from './settled.ts';

/**
 * Cluster → cloud collection: a NodeClaim whose instance was ended by somebody else, or stopped, is deleted, so that
 * its Pods find another machine. A stopped instance is not gone: the termination chain ends it. One that has lost its
 * tags is neither: it gets them again.
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
    const fleets = settledFleets(this.#context, this.#revisions);
    await Promise.all(fleets.map(async (fleet) => this.#judge(fleet, signal)));
  }

  async #judge(fleet: Fleet, signal: AbortSignal): Promise<void> {
    const cloud = await this.#clouds.for(fleet.nodeClass.spec);
    const known = await this.#known(cloud, fleet, signal);
    if (!known) return;
    await Promise.all(
      [...fleet.claims].map(async ([id, claim]) => {
        const instance = known.get(id);
        const why = fateOf(id, instance);
        if (why !== undefined) await this.#delete(claim, why);
        else if (instance) await this.#retag(cloud, fleet, { claim, instance }, signal);
      }),
    );
  }

  /** By id; what the list of our tags does not show may have lost them, and is asked for by name. */
  async #known(
    cloud: CloudProvider,
    { nodeClass, claims }: Fleet,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, Instance> | undefined> {
    const { clusterUid } = this.#context;
    return this.#unless('cannot list instances, judging nobody', async () => {
      const listed = await cloud.snapshot(nodeClass, clusterUid, signal);
      const ids = new Set(listed.map(({ id }) => id));
      const missing = [...claims.keys()].filter((id) => !ids.has(id));
      const { care } = cloud;
      const named = care && missing.length > 0 ? await care.byId(nodeClass, missing, signal) : [];
      return new Map([...listed, ...named].map((instance) => [instance.id, instance]));
    });
  }

  /** An instance without its tags is no longer ours to the cloud: it could not be ended, nor be found after a crash. */
  async #retag(
    { care }: CloudProvider,
    { nodeClass }: Fleet,
    { claim, instance }: { claim: Live<NodeClaim>; instance: Instance },
    signal: AbortSignal,
  ): Promise<void> {
    if (!care) return;
    const { clusterUid, recorder } = this.#context;
    const identity = identityOf(claim, clusterUid);
    const lost = await this.#unless('cannot tag an instance again', async () =>
      care.retag(nodeClass, instance, identity, signal),
    );
    if (!lost || lost.length === 0) return;
    const message = `Instance ${instance.id} had lost ${lost.join(', ')}, and is tagged again (KPU339)`;
    recorder.record({ object: claim, type: 'Warning', reason: 'TagsRestored', message });
  }

  /** @returns undefined when the cloud refuses or is away, which the log tells */
  async #unless<T>(what: string, act: () => Promise<T>): Promise<T | undefined> {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof MachineError)) throw error;
      const { code, reason, message } = error;
      this.#context.log.warn({ code, reason, message }, what);
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
}

/** @returns undefined for an instance that is well */
function fateOf(id: string, instance: Instance | undefined): string | undefined {
  if (!instance) return `The cloud no longer knows instance ${id}`;
  if (instance.state === 'pending' || instance.state === 'running') return undefined;
  const why = instance.stateReason === undefined ? '' : `: ${instance.stateReason}`;
  return `Instance ${id} is ${instance.state}${why}`;
}
