import type { Informer } from '#kube/cache/informer.ts';
import type { KubeClient } from '#kube/client/client.ts';
import { isNotFound } from '#kube/client/errors.ts';
import type { Logger } from '#kube/log.ts';
import type { Reconciler, Result } from '#kube/runtime/reconciler.ts';
import type { Pod, PodStatus } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { type Key, pods } from '#schemas/kubernetes/resource.ts';
import type { Clock } from '#schemas/time/clock.ts';

import { endedStatus, endOf, guestsOf, podTag, runningStatus } from './guest.ts';
import {
  type GuestSpec,
  type PlatformClient,
  type PlatformGuest,
  QuotaExceeded,
} from './platform-client.ts';
import type { KraftletSettings } from './settings.ts';
import type { WantedMemory } from './wanted-memory.ts';

/**
 * Runs the Pods that are bound to the Node as guests on the machine, as far as phases go. What exists is read from
 * the platform each time, so nothing is lost when Kraftlet starts anew.
 */
export class Pods implements Reconciler {
  readonly #client: KubeClient;
  readonly #platform: PlatformClient;
  readonly #bound: Informer<Pod>;
  readonly #settings: KraftletSettings;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #wanted: WantedMemory;

  constructor(options: {
    client: KubeClient;
    platform: PlatformClient;
    bound: Informer<Pod>;
    settings: KraftletSettings;
    clock: Clock;
    log: Logger;
    wanted: WantedMemory;
  }) {
    this.#client = options.client;
    this.#platform = options.platform;
    this.#bound = options.bound;
    this.#settings = options.settings;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#wanted = options.wanted;
  }

  async reconcile(key: string): Promise<Result> {
    const pod = this.#bound.get(key);
    const guests = await this.#guestsAt(key);
    if (!pod) return this.#gone(guests);
    if (pod.metadata.deletionTimestamp !== undefined) return this.#release(pod, guests);
    if (isFinished(pod)) return this.#gone(guests);
    return this.#run(await this.#claimed(pod), guests);
  }

  async #guestsAt(key: string): Promise<PlatformGuest[]> {
    const [namespace = '', name = ''] = key.split('/');
    const wanted = podTag(namespace, name);
    return (await this.#platform.guests()).filter(({ tags }) => tags.includes(wanted));
  }

  async #gone(guests: readonly PlatformGuest[]): Promise<Result> {
    await this.#remove(guests);
    return {};
  }

  async #remove(guests: readonly PlatformGuest[]): Promise<void> {
    await Promise.all(guests.map(async ({ uuid }) => this.#platform.remove(uuid)));
  }

  /** A Pod is not over before its guests are: then the finalizer goes, and the Pod at once with it. */
  async #release(pod: Live<Pod>, guests: readonly PlatformGuest[]): Promise<Result> {
    await this.#remove(guests);
    const { finalizers = [], uid } = pod.metadata;
    const others = finalizers.filter((finalizer) => finalizer !== this.#settings.podFinalizer);
    if (others.length < finalizers.length) await this.#setFinalizers(pod, others);
    await this.#client
      .delete(pods, keyIn(pod), { uid, gracePeriodSeconds: 0 })
      .catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
    this.#log.info({ pod: pod.metadata.name, guests: guests.length }, 'released a Pod');
    return {};
  }

  /** Accepted Pods carry the finalizer before anything runs for them. */
  async #claimed(pod: Live<Pod>): Promise<Live<Pod>> {
    const { finalizers = [] } = pod.metadata;
    const { podFinalizer } = this.#settings;
    if (finalizers.includes(podFinalizer)) return pod;
    return this.#setFinalizers(pod, [...finalizers, podFinalizer]);
  }

  async #setFinalizers(pod: Live<Pod>, finalizers: readonly string[]): Promise<Live<Pod>> {
    const { resourceVersion, uid } = pod.metadata;
    const body = { metadata: { finalizers, resourceVersion, uid } };
    return this.#client.patch(pods, keyIn(pod), { type: 'merge', body });
  }

  async #run(pod: Live<Pod>, guests: readonly PlatformGuest[]): Promise<Result> {
    const wanted = guestsOf(pod, this.#settings.nodeName);
    // guests of an earlier Pod of this name
    await this.#remove(guests.filter(({ name }) => wanted.every((guest) => guest.name !== name)));
    if (guests.some(wasCutOff) || !(await this.#startMissing(wanted, guests))) {
      return this.#refuse(pod, wanted);
    }
    const running = isReady(pod)
      ? pod
      : await this.#setStatus(pod, runningStatus(pod, this.#clock.stamp()));
    return this.#untilEnd(running);
  }

  /** @returns whether the live quotas had room for all */
  async #startMissing(
    wanted: readonly GuestSpec[],
    guests: readonly PlatformGuest[],
  ): Promise<boolean> {
    try {
      for (const guest of wanted) {
        if (guests.some(({ name }) => name === guest.name)) continue;
        // oxlint-disable-next-line no-await-in-loop -- the second container must not start when the first finds no room
        await this.#platform.start(guest);
      }
      return true;
    } catch (error) {
      if (error instanceof QuotaExceeded) return false;
      throw error;
    }
  }

  /**
   * No room on the machine, when it starts or when it is to go on from standby: the Pod fails, and one that a controller
   * will replace is deleted.
   */
  async #refuse(pod: Live<Pod>, wanted: readonly GuestSpec[]): Promise<Result> {
    this.#wanted.refused(wanted.reduce((sum, { memory_mb }) => sum + memory_mb, 0));
    const reason = 'QuotaExceeded';
    const message = 'The live quotas of the platform leave no room for this Pod.';
    await this.#setStatus(
      pod,
      endedStatus(pod, { phase: 'Failed', reason, message }, this.#clock.stamp()),
    );
    const { ownerReferences = [], uid } = pod.metadata;
    if (ownerReferences.some(({ controller }) => controller === true)) {
      await this.#client.delete(pods, keyIn(pod), { uid });
    }
    return {};
  }

  async #untilEnd(pod: Live<Pod>): Promise<Result> {
    const end = endOf(pod);
    const { podStatusInterval } = this.#settings;
    if (!end) return { requeueAfter: podStatusInterval };
    const left = this.#clock.from(pod.status?.startTime ?? '') + end.after - this.#clock.now();
    if (left > 0) return { requeueAfter: Math.min(left, podStatusInterval) };
    await this.#setStatus(pod, endedStatus(pod, { phase: end.phase }, this.#clock.stamp()));
    return {}; // the change of the Pod brings it back, to remove its guests
  }

  async #setStatus(pod: Live<Pod>, status: PodStatus): Promise<Live<Pod>> {
    const body = { metadata: { uid: pod.metadata.uid }, status };
    const patch = { type: 'strategic', body } as const;
    return this.#client.patch(pods, keyIn(pod), patch, { subresource: 'status' });
  }
}

/** It was to go on and found no live memory. */
const wasCutOff = ({ state, stop_reason: why }: PlatformGuest): boolean =>
  state === 'stopped' && why === 'quota';

const isFinished = ({ status }: Pod): boolean =>
  status?.phase === 'Succeeded' || status?.phase === 'Failed';

const isReady = ({ status }: Pod): boolean =>
  status?.phase === 'Running' &&
  status.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';

const keyIn = ({ metadata }: Live<Pod>): Key => ({
  namespace: metadata.namespace ?? '',
  name: metadata.name,
});
