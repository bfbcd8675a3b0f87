import { isConflict, isNotFound } from '#kube/client/errors.ts';
import { scopeOf } from '#kube/conditions.ts';
import type { Metrics } from '#kube/metrics.ts';
import type { InstanceTrouble } from '#machine/cloud/provider.ts';
import { MachineError } from '#machine/errors.ts';
import { nodeClaims, type NodeClaim } from '#schemas/karpenter/types.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { minutes } from '#schemas/time/clock.ts';

import type { Clouds } from '../../clouds.ts';
import type { Context } from '../../context.ts';
import { countDisrupted } from '../../metrics.ts';
import type { Revisions } from '../../nodeclass/revisions.ts';
import { patchStatus } from '../../status-patch.ts';
import { lifecycle } from '../steps/claim-in-hand.ts';
import { settledFleets, type Fleet } from './settled.ts';

/** A check that fails for less may only be a reboot of the guest. */
const patience = minutes(2);
/** So much of a fleet may be replaced for checks that fail together: more than that is the cloud's trouble, not theirs. */
const atMost = 0.2;

/**
 * Machines that the cloud will take away (retirement, maintenance, reboot) or whose status checks fail go before their
 * Pods find out: the claim says why in `Interrupted`, is deleted, and drains as any other.
 *
 * Source: Karpenter's AWS provider v1.14, pkg/controllers/interruption and instancestatus; the share, from Karpenter
 * v1.15, pkg/controllers/node/health.
 */
export class Interruption {
  readonly #context: Context;
  readonly #clouds: Clouds;
  readonly #revisions: Revisions;
  readonly #metrics: Metrics;

  constructor(context: Context, clouds: Clouds, revisions: Revisions, metrics: Metrics) {
    this.#context = context;
    this.#clouds = clouds;
    this.#revisions = revisions;
    this.#metrics = metrics;
  }

  async look(signal: AbortSignal): Promise<void> {
    const fleets = settledFleets(this.#context, this.#revisions);
    await Promise.all(fleets.map(async (fleet) => this.#judge(fleet, signal)));
  }

  async #judge(fleet: Fleet, signal: AbortSignal): Promise<void> {
    const troubles = await this.#troubles(fleet, signal);
    const decided = troubles.filter(({ failingSince }) => failingSince === undefined);
    const failing = troubles.filter((trouble) => this.#hasLasted(trouble));
    const isMany = failing.length > Math.ceil(fleet.claims.size * atMost);
    if (isMany) {
      const { log } = this.#context;
      log.warn(
        { failing: failing.length, of: fleet.claims.size, nodeClass: fleet.nodeClass.nodeClass },
        'the status checks of too many machines fail to replace them; none is',
      );
    }
    const going = isMany ? decided : [...decided, ...failing];
    await Promise.all(
      going.map(async (trouble) => {
        const claim = fleet.claims.get(trouble.instanceId);
        if (claim) await this.#interrupt(claim, trouble);
      }),
    );
  }

  #hasLasted({ failingSince }: InstanceTrouble): boolean {
    const { clock } = this.#context;
    return failingSince !== undefined && clock.now() - clock.from(failingSince) > patience;
  }

  async #troubles({ nodeClass, claims }: Fleet, signal: AbortSignal) {
    const { clusterUid, log } = this.#context;
    const cloud = await this.#clouds.for(nodeClass.spec);
    if (!cloud.care) return [];
    try {
      const listed = await cloud.snapshot(nodeClass, clusterUid, signal);
      const running = listed.filter(({ id, state }) => state === 'running' && claims.has(id));
      if (running.length === 0) return [];
      return await cloud.care.troubles(
        nodeClass,
        running.map(({ id }) => id),
        signal,
      );
    } catch (error) {
      if (!(error instanceof MachineError)) throw error;
      const { code, reason, message } = error;
      log.warn({ code, reason, message }, 'cannot read the status of instances, judging nobody');
      return [];
    }
  }

  async #interrupt(claim: Live<NodeClaim>, { instanceId, why }: InstanceTrouble): Promise<void> {
    const { client, recorder, clock } = this.#context;
    const { name, uid } = claim.metadata;
    const message = `Instance ${instanceId}: ${why}; the claim ends and its Pods find another machine (KPU338)`;
    const change = {
      type: 'Interrupted',
      status: 'True',
      reason: 'InstanceInTrouble',
      message,
    } as const;
    const scope = scopeOf(claim, clock.stamp());
    const conditions = lifecycle.set(claim.status?.conditions, change, scope);
    try {
      await patchStatus(client, nodeClaims, claim, { ...claim.status, conditions });
      await client.delete(nodeClaims, { name }, { uid });
    } catch (error) {
      if (isNotFound(error) || isConflict(error)) return; // it is looked at again in a minute
      throw error;
    }
    recorder.record({ object: claim, type: 'Warning', reason: 'Interrupted', message });
    countDisrupted(this.#metrics, claim, { reason: 'interrupted' });
  }
}
