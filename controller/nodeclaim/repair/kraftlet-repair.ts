import type { KubeClient } from '#kube/client/client.ts';
import { isConflict, isNotFound } from '#kube/client/errors.ts';
import type { EventRecorder } from '#kube/runtime/events.ts';
import { MachineError } from '#machine/errors.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { pods } from '#schemas/kubernetes/resource.ts';
import { minutes, type Clock } from '#schemas/time/clock.ts';

import { by, type Caches } from '../../caches.ts';
import { coded } from '../../reason.ts';
import { troubleOf, type Trouble } from '../kraftlet/pod-trouble.ts';
import { scopeOf, type KraftletRelease } from '../kraftlet/release.ts';
import { kindsOf } from '../kraftlet/upkeep.ts';
import type { ClaimInHand } from '../steps/claim-in-hand.ts';
import { isStillWanted } from '../steps/still-wanted.ts';
import { kraftletDown } from './conditions.ts';
import type { Patient } from './examination.ts';
import type { LostHost } from './lost-host.ts';

/**
 * A Kraftlet may be so long without success before its Pod is taken away, so that another one starts, maybe elsewhere. The
 * same again for that one: one try in five minutes, however long it lasts.
 */
const patience = minutes(5);

export interface KraftletRepairParts {
  readonly client: KubeClient;
  readonly caches: Pick<Caches, 'pods'>;
  readonly clock: Clock;
  readonly recorder: EventRecorder;
  readonly release: KraftletRelease;
  readonly lostHost: LostHost;
}

/**
 * Repairs the release of a Kraftlet whose machine is well: what was changed of it is put back, a Pod that does not
 * come right is replaced, one that is held by a lost host is let go. The machine is not touched.
 */
export class KraftletRepair {
  readonly #parts: KraftletRepairParts;

  constructor(parts: KraftletRepairParts) {
    this.#parts = parts;
  }

  /** What people read of it: what the cluster says about its Pod, else about its Node. */
  trouble({ hand, node }: Pick<Patient, 'hand' | 'node'>): Trouble {
    const own = this.#parts.caches.pods.by(by.claimUid, hand.identity.claimUid);
    const found = own.map(leaving).find(isGiven) ?? own.map(troubleOf).find(isGiven);
    const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
    const what = found?.message ?? ready?.message ?? 'it says no more';
    const message = `The platform answers healthy, and Kraftlet keeps Node ${node.metadata.name} not Ready: ${what}`;
    return { reason: found?.reason ?? 'NodeNotReady', message: coded(message, 'KPU370') };
  }

  async repair({ hand }: Patient, signal: AbortSignal): Promise<void> {
    const { client } = this.#parts;
    if (!(await isStillWanted(client, hand, signal))) return;
    if (this.#isTime(hand)) await this.#renew(hand, signal);
    const { items } = await client.list(pods, { ...scopeOf(hand, pods), signal });
    for (const pod of items) {
      // oxlint-disable-next-line no-await-in-loop -- a release has one Pod
      await (pod.metadata.deletionTimestamp === undefined
        ? this.#restart(hand, pod)
        : this.#parts.lostHost.release(hand, pod, signal));
    }
  }

  /**
   * In the first minute and then in every fifth: a release is some twenty calls, and a host that dies may take a hundred
   * Kraftlets along.
   */
  #isTime(hand: ClaimInHand): boolean {
    const { clock } = this.#parts;
    const downFor = clock.now() - (hand.since(kraftletDown) ?? clock.now());
    return downFor % patience < minutes(1);
  }

  /** A chart that cannot be had now is told, and keeps nothing else from being repaired. */
  async #renew(hand: ClaimInHand, signal: AbortSignal): Promise<void> {
    const { release } = this.#parts;
    try {
      const objects = await release.render(hand, signal);
      const { changed, refused } = await release.renew(hand, objects, signal);
      if (refused?.kind === 'wait') this.#tell(hand, refused.reason, refused.message);
      if (changed.length === 0) return;
      const message = `${kindsOf(changed)} of Kraftlet release ${hand.identity.name} had been changed and is as it was rendered`;
      this.#tell(hand, 'KraftletRestored', coded(message, 'KPU370'));
    } catch (error) {
      if (!(error instanceof MachineError)) throw error;
      this.#tell(hand, error.reason, coded(error.message, error.code));
    }
  }

  /** In order, with its grace period. One that waits for a host would only wait again. */
  async #restart(hand: ClaimInHand, { metadata, spec }: Live<Pod>): Promise<void> {
    const { client, clock } = this.#parts;
    const downFor = clock.now() - (hand.since(kraftletDown) ?? clock.now());
    const age = clock.now() - clock.from(metadata.creationTimestamp ?? clock.stamp());
    if (Math.min(downFor, age) < patience || spec?.nodeName === undefined) return;
    const { namespace = '', name, uid } = metadata;
    await client.delete(pods, { namespace, name }, { uid }).catch((error: unknown) => {
      if (!isNotFound(error) && !isConflict(error)) throw error;
    });
    const message = `Kraftlet Pod ${name} did not come right in 5 min and is replaced`;
    this.#tell(hand, 'KraftletRestarted', coded(message, 'KPU370'));
  }

  #tell({ claim }: ClaimInHand, reason: string, message: string): void {
    this.#parts.recorder.record({ object: claim, type: 'Warning', reason, message });
  }
}

function leaving({ metadata, spec }: Pod): Trouble | undefined {
  if (metadata?.deletionTimestamp === undefined) return undefined;
  const message = `Kraftlet Pod ${metadata.name} is on its way out on host ${spec?.nodeName ?? 'none'}`;
  return { reason: 'KraftletPodLeaving', message };
}

function isGiven<T>(value: T | undefined): value is T {
  return value !== undefined;
}
