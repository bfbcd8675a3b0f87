import { SharedInformer } from '#kube/cache/shared-informer.ts';
import type { KubeClient } from '#kube/client/client.ts';
import type { Logger } from '#kube/log.ts';
import { Controller, watch } from '#kube/runtime/controller.ts';
import type { Runnable } from '#kube/runtime/reconciler.ts';
import { pods } from '#schemas/kubernetes/resource.ts';
import { type Clock, type Duration, seconds } from '#schemas/time/clock.ts';

import { Heartbeat, type Joined } from './heartbeat.ts';
import type { PlatformFacts } from './node.ts';
import { PlatformClient } from './platform-client.ts';
import { Pods } from './pods.ts';
import type { KraftletSettings } from './settings.ts';
import { WantedMemory } from './wanted-memory.ts';

const leaseInterval = seconds(10);
const joinInterval = seconds(1);

/**
 * A stand-in for the vendor's Kraftlet, which cannot be had: it fronts one machine with one Node, by the same
 * environment, rights and behaviour as far as that is public. It listens nowhere: no logs, no exec.
 */
export class Kraftlet implements Runnable {
  readonly name = 'kraftlet';
  readonly #settings: KraftletSettings;
  readonly #client: KubeClient;
  readonly #clock: Clock;
  readonly #log: Logger;

  constructor(options: {
    settings: KraftletSettings;
    client: KubeClient;
    clock: Clock;
    log: Logger;
  }) {
    this.#settings = options.settings;
    this.#client = options.client;
    this.#clock = options.clock;
    this.#log = options.log;
  }

  async run(signal: AbortSignal): Promise<void> {
    const platform = new PlatformClient(this.#settings);
    const parts = {
      client: this.#client,
      platform,
      settings: this.#settings,
      clock: this.#clock,
      log: this.#log,
      wanted: new WantedMemory(),
    };
    try {
      const heartbeat = new Heartbeat(parts);
      const joined = await this.#join(heartbeat, signal);
      if (!joined) return;
      const bound = new SharedInformer(this.#client, pods, {
        clock: this.#clock,
        log: this.#log,
        fieldSelector: `spec.nodeName=${this.#settings.nodeName}`,
      });
      const controller = new Controller({
        name: 'kraftlet.pods',
        reconciler: new Pods({ ...parts, bound }),
        concurrency: this.#settings.podWorkers,
        clock: this.#clock,
        log: this.#log,
        watches: [watch(bound)],
      });
      await Promise.all([
        this.#every(leaseInterval, async () => heartbeat.renew(joined.node), signal),
        this.#reports(heartbeat, joined.quotas, signal),
        bound.run(signal),
        controller.run(signal),
      ]);
    } finally {
      platform.close();
    }
  }

  /** Tries until it is in; undefined when the signal comes first. */
  async #join(heartbeat: Heartbeat, signal: AbortSignal): Promise<Joined | undefined> {
    let joined: Joined | undefined;
    const tried = new AbortController();
    const join = async (): Promise<void> => {
      joined = await heartbeat.join();
      tried.abort();
    };
    await this.#every(joinInterval, join, AbortSignal.any([signal, tried.signal]));
    return joined;
  }

  async #reports(
    heartbeat: Heartbeat,
    quotas: PlatformFacts['quotas'],
    signal: AbortSignal,
  ): Promise<void> {
    let last = quotas;
    const report = async (): Promise<void> => {
      const facts = await heartbeat.look(last);
      last = facts.quotas;
      await heartbeat.report(facts);
    };
    await this.#every(this.#settings.nodeStatusInterval, report, signal);
  }

  /** Does it now and then again and again; a failure is logged and waits for the next time. */
  async #every(
    interval: Duration,
    action: () => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    while (!signal.aborted) {
      try {
        // oxlint-disable-next-line no-await-in-loop -- one after the other is the point
        await action();
      } catch (error) {
        this.#log.warn({ err: error }, 'will be tried again');
      }
      // oxlint-disable-next-line no-await-in-loop -- one after the other is the point
      await this.#clock.sleep(interval, signal).catch(() => undefined); // aborted: the loop ends
    }
  }
}
