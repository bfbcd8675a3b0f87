import { rm } from 'node:fs/promises';

import { isNotFound } from '#kube/client/errors.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { pods } from '#schemas/kubernetes/resource.ts';
import { milliseconds, seconds, type Duration } from '#schemas/time/clock.ts';

import type { Backend } from '../processes/tcp-balancer.ts';
import { aborted } from './aborted.ts';
import { ContainerWorker } from './container-worker.ts';
import { podFolder, type HostContext } from './launch.ts';
import type { RunnableContainer } from './pod-spec.ts';
import { statusOf } from './pod-status.ts';
import { Volumes } from './volumes.ts';

/**
 * One Pod from being bound to being gone: volumes, init containers, containers, status, and, once it has a
 * deletionTimestamp, the end within its grace period and the DELETE that lets its object go.
 */
export class PodWorker {
  readonly done: Promise<void>;
  readonly #context: HostContext;
  readonly #startTime: string;
  readonly #stop = new AbortController();
  #pod: Live<Pod>;
  #grace: Duration;
  #init: ContainerWorker[] = [];
  #containers: ContainerWorker[] = [];
  #over = false;
  #writing: Promise<void> | undefined;
  #changed = false;
  #gone = false;

  constructor(pod: Live<Pod>, context: HostContext) {
    this.#pod = pod;
    this.#context = context;
    this.#grace = seconds(pod.spec?.terminationGracePeriodSeconds ?? 30);
    this.#startTime = context.clock.stamp();
    this.update(pod);
    this.done = this.#run().catch((error: unknown) => {
      context.log.error({ pod: pod.metadata.name, err: error }, 'the host node lost a Pod');
    });
  }

  /** A newer state of the object was seen. */
  update(pod: Live<Pod>): void {
    this.#pod = pod;
    const { deletionTimestamp, deletionGracePeriodSeconds = 30 } = pod.metadata;
    if (deletionTimestamp === undefined || this.#stop.signal.aborted) return;
    this.#grace = seconds(deletionGracePeriodSeconds);
    this.#stop.abort();
  }

  /** The object is gone, or the world ends: nothing is waited for or written any more. */
  forget(): void {
    this.#gone = true;
    this.#grace = 0;
    this.#stop.abort();
    for (const container of [...this.#init, ...this.#containers]) container.kill();
  }

  /** Where its port is served, when the Pod is ready for traffic. */
  backend(port: number): Backend | undefined {
    if (this.#stop.signal.aborted || !this.#containers.every(({ ready }) => ready))
      return undefined;
    const local = this.#containers.flatMap(({ ports }) => ports?.get(port) ?? [])[0];
    return local === undefined ? undefined : { host: '127.0.0.1', port: local };
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    const folder = podFolder(this.#context, this.#pod);
    this.#plan(new Map());
    const volumes = await this.#volumes(folder, signal);
    if (volumes) {
      this.#plan(volumes);
      if (await this.#initialize(signal)) await this.#runAll(signal);
    }
    this.#over = true;
    await this.#write();
    await aborted(signal);
    await this.#delete();
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }

  #plan(volumes: ReadonlyMap<string, string>): void {
    const { containers = [], initContainers = [], restartPolicy = 'Always' } = this.#pod.spec ?? {};
    const restart = restartPolicy as 'Always' | 'OnFailure' | 'Never';
    const worker = (container: RunnableContainer, policy: typeof restart): ContainerWorker =>
      new ContainerWorker(
        {
          pod: this.#pod,
          container,
          volumes,
          restart: policy,
          grace: () => this.#grace,
          onChange: () => void this.#write(),
        },
        this.#context,
      );
    const retry = restart === 'Never' ? 'Never' : 'OnFailure';
    this.#init = initContainers.map((container) => worker(container, retry));
    this.#containers = containers.map((container) => worker(container, restart));
  }

  /** Tries until it works; undefined when the Pod is told to go before. */
  async #volumes(
    folder: string,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, string> | undefined> {
    const { client, clock, log } = this.#context;
    let pause = milliseconds(500);
    while (!signal.aborted) {
      try {
        // oxlint-disable-next-line no-await-in-loop -- one try after the other
        return await new Volumes(client, this.#pod).materialise(folder);
      } catch (error) {
        log.warn({ pod: this.#pod.metadata.name, err: error }, 'cannot make the volumes');
        const why = error instanceof Error ? error.message : String(error);
        for (const container of this.#containers) container.hold(why);
      }
      // oxlint-disable-next-line no-await-in-loop -- as above
      await clock.sleep(pause, signal).catch(() => {}); // the loop sees the abort
      pause = Math.min(pause * 2, seconds(10));
    }
    return undefined;
  }

  /** One after the other; false when one failed for good or the Pod is told to go. */
  async #initialize(signal: AbortSignal): Promise<boolean> {
    for (const container of this.#init) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other is what they are for
      if ((await container.run(signal)) !== 0) return false;
    }
    return !signal.aborted;
  }

  async #runAll(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#containers.map((container) => container.run(signal)));
  }

  /** Writes the status as it is when its turn comes; changes in between make one more write, not many. */
  async #write(): Promise<void> {
    this.#changed = true;
    this.#writing ??= this.#writeAll().finally(() => (this.#writing = undefined));
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    while (this.#changed && !this.#gone) {
      this.#changed = false;
      try {
        // oxlint-disable-next-line no-await-in-loop -- one write at a time
        await this.#patchStatus();
      } catch (error) {
        if (isNotFound(error)) return;
        this.#context.log.warn(
          { pod: this.#pod.metadata.name, err: error },
          'cannot write a status',
        );
        this.#changed = true;
        // oxlint-disable-next-line no-await-in-loop -- as above
        await this.#context.clock.sleep(seconds(1));
      }
    }
  }

  async #patchStatus(): Promise<void> {
    const { namespace = 'default', name, uid } = this.#pod.metadata;
    const status = statusOf({
      init: this.#init,
      containers: this.#containers,
      startTime: this.#startTime,
      over: this.#over,
      conditions: this.#pod.status?.conditions ?? [],
      now: this.#context.clock.stamp(),
    });
    const body = { metadata: { uid }, status }; // a uid that is not the object's is a conflict
    const patch = { type: 'strategic', body } as const;
    const options = { subresource: 'status' };
    this.#pod = await this.#context.client.patch(pods, { namespace, name }, patch, options);
    this.update(this.#pod);
  }

  /** Grace period 0 says: it runs no more, let its object go. Tried until the API server has heard it. */
  async #delete(): Promise<void> {
    const { namespace = 'default', name, uid } = this.#pod.metadata;
    while (!this.#gone) {
      try {
        // oxlint-disable-next-line no-await-in-loop -- until it is heard
        await this.#context.client.delete(
          pods,
          { namespace, name },
          { uid, gracePeriodSeconds: 0 },
        );
        return;
      } catch (error) {
        if (isNotFound(error)) return;
        this.#context.log.warn({ pod: name, err: error }, 'cannot delete a Pod that has ended');
      }
      // oxlint-disable-next-line no-await-in-loop -- as above
      await this.#context.clock.sleep(seconds(1));
    }
  }
}
