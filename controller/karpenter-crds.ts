import type { KubeClient } from '#kube/client/client.ts';
import type { Logger } from '#kube/log.ts';
import type { Runnable } from '#kube/runtime/reconciler.ts';
import { seconds, type Clock } from '#schemas/time/clock.ts';

const path = '/apis/karpenter.sh/v1';
const needed = ['nodepools', 'nodeclaims'] as const;
const interval = seconds(5);

/**
 * Looks whether the cluster serves Karpenter's kinds, which this operator does not install: their CRDs belong to
 * whichever Karpenter came first. Until then the process is alive and not ready, and says so with one code; the
 * caches fill by themselves once the kinds are there.
 */
export class KarpenterCrds implements Runnable {
  readonly name = 'karpenter-crds';
  readonly #client: KubeClient;
  readonly #clock: Clock;
  readonly #log: Logger;
  #trouble: string | undefined = 'not looked for yet';

  constructor({ client, clock, log }: { client: KubeClient; clock: Clock; log: Logger }) {
    this.#client = client;
    this.#clock = clock;
    this.#log = log;
  }

  /** For `/readyz`. */
  readonly check = (): string | undefined => this.#trouble;

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // oxlint-disable-next-line no-await-in-loop -- one look after the other
      if (this.#trouble !== undefined) await this.#look(signal);
      // oxlint-disable-next-line no-await-in-loop -- one look after the other
      await this.#clock.sleep(interval, signal).catch(() => {});
    }
  }

  async #look(signal: AbortSignal): Promise<void> {
    const before = this.#trouble;
    this.#trouble = await this.#missing(signal).catch((error: unknown) => String(error));
    if (this.#trouble === undefined) this.#log.info({}, "Karpenter's CRDs are served");
    else if (this.#trouble !== before) this.#log.warn({ trouble: this.#trouble }, 'not ready');
  }

  async #missing(signal: AbortSignal): Promise<string | undefined> {
    const served = (await this.#client.raw(path, { signal })) as
      | { resources?: { name: string }[] }
      | undefined;
    const names = new Set(served?.resources?.map(({ name }) => name));
    const missing = needed.filter((name) => !names.has(name));
    if (missing.length === 0) return undefined;
    return `karpenter.sh/v1 ${missing.join(' and ')} are not served: install Karpenter's CRDs (KPU200)`;
  }
}
