import type { JsonPatchOperation, KubeClient } from '#kube/client/client.ts';
import { isInvalid, isNotFound } from '#kube/client/errors.ts';
import type { Logger } from '#kube/log.ts';
import type { KubeObject } from '#schemas/kubernetes/meta.ts';
import { resource, type Resource } from '#schemas/kubernetes/resource.ts';
import { seconds, type Clock } from '#schemas/time/clock.ts';

interface WebhookConfiguration extends KubeObject {
  webhooks?: { name: string; clientConfig: { caBundle?: string } }[];
}

const configurations: readonly Resource<WebhookConfiguration>[] = [
  ['MutatingWebhookConfiguration', 'mutatingwebhookconfigurations'],
  ['ValidatingWebhookConfiguration', 'validatingwebhookconfigurations'],
].map(([kind = '', plural = '']) =>
  resource<WebhookConfiguration>('admissionregistration.k8s.io/v1', kind, plural, 'Cluster'),
);

const name = 'karpenter-unikraft';
const fieldManager = 'karpenter-unikraft-ca-bundle';
/** A Git tool that applies the configuration anew may drop the bundle; this is how long that can last. */
const interval = seconds(15);

/**
 * Keeps the CA in both webhook configurations. It is written by a JSON patch that tests the hook's name first, never by
 * apply: an applied caBundle leaves half an entry behind when a release renames a hook.
 */
export class CaBundle {
  readonly name = 'webhook.ca-bundle';
  readonly #client: KubeClient;
  readonly #bundle: string;
  readonly #clock: Clock;
  readonly #log: Logger;
  #published = false;

  /** @param ca PEM of what the API server is to trust */
  constructor(parts: { client: KubeClient; ca: string; clock: Clock; log: Logger }) {
    this.#client = parts.client;
    this.#bundle = Buffer.from(parts.ca).toString('base64');
    this.#clock = parts.clock;
    this.#log = parts.log;
  }

  /** Both configurations carried the bundle when they were last read. */
  get published(): boolean {
    return this.#published;
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // oxlint-disable-next-line no-await-in-loop -- one look after the other
      await this.publish().catch((error: unknown) => {
        this.#log.warn({ err: error }, 'cannot publish the CA bundle, will try again');
      });
      // oxlint-disable-next-line no-await-in-loop -- one look after the other
      await this.#clock.sleep(interval, signal).catch(() => {});
    }
  }

  /** Brings both configurations up to date; a configuration that is not there is nobody's trouble (webhook removed). */
  async publish(): Promise<void> {
    const done = await Promise.all(configurations.map((one) => this.#publishIn(one)));
    this.#published = done.every(Boolean);
  }

  async #publishIn(kind: Resource<WebhookConfiguration>): Promise<boolean> {
    try {
      const { webhooks = [] } = await this.#client.get(kind, { name });
      const body = webhooks.flatMap((hook, index) => this.#operations(hook, index));
      if (body.length === 0) return webhooks.length > 0;
      const options = { fieldManager };
      const read = await this.#client.patch(kind, { name }, { type: 'json', body }, options);
      return (read.webhooks ?? []).every((hook) => hook.clientConfig.caBundle === this.#bundle);
    } catch (error) {
      if (isNotFound(error) || isInvalid(error)) return false; // gone, or changed under our hands
      throw error;
    }
  }

  #operations(
    hook: { name: string; clientConfig: { caBundle?: string } },
    index: number,
  ): JsonPatchOperation[] {
    if (hook.clientConfig.caBundle === this.#bundle) return [];
    return [
      { op: 'test', path: `/webhooks/${index}/name`, value: hook.name },
      { op: 'add', path: `/webhooks/${index}/clientConfig/caBundle`, value: this.#bundle },
    ];
  }
}
