import type { JsonPatchOperation, KubeClient } from '#kube/client/client.ts';
import { isNotFound } from '#kube/client/errors.ts';
import type { KubeObject } from '#schemas/kubernetes/meta.ts';
import { resource, type Resource } from '#schemas/kubernetes/resource.ts';

interface Hook {
  readonly name: string;
  readonly clientConfig: { readonly caBundle?: string };
}

export interface WebhookConfiguration extends KubeObject {
  webhooks?: Hook[];
}

const group = 'admissionregistration.k8s.io/v1';

export const mutatingWebhookConfigurations = resource<WebhookConfiguration>(
  group,
  'MutatingWebhookConfiguration',
  'mutatingwebhookconfigurations',
  'Cluster',
);

export const validatingWebhookConfigurations = resource<WebhookConfiguration>(
  group,
  'ValidatingWebhookConfiguration',
  'validatingwebhookconfigurations',
  'Cluster',
);

const configurations = [mutatingWebhookConfigurations, validatingWebhookConfigurations];
const name = 'karpenter-unikraft';
/** Its own, so that managedFields show who wrote the bundle, and appliers of the configurations do not own it. */
const fieldManager = 'karpenter-unikraft-ca-bundle';

type Look = 'absent' | 'present' | 'written';

export interface Published {
  /**
   * Kinds of configurations that are not there, which is no fault: they may be applied after this process is ready, and
   * taking them away is how the webhook is turned off.
   */
  readonly absent: readonly string[];
  /** Kinds of those that lacked the bundle. */
  readonly written: readonly string[];
}

/**
 * The CA in both webhook configurations. It is written by a JSON patch that tests the hook's name first, never by
 * apply: an applied caBundle leaves half an entry behind when a release renames a hook.
 */
export class CaBundle {
  readonly #client: KubeClient;
  readonly #bundle: string;

  /** @param ca PEM of what the API server is to trust */
  constructor(client: KubeClient, ca: string) {
    this.#client = client;
    this.#bundle = Buffer.from(ca).toString('base64');
  }

  /**
   * Writes the bundle wherever it is not.
   *
   * @throws ApiError when the server refuses, also when hooks changed between read and write: look again
   */
  async publish(): Promise<Published> {
    const looks = await Promise.all(configurations.map((kind) => this.#publishIn(kind)));
    const kindsWith = (look: Look): string[] =>
      configurations.filter((_, index) => looks[index] === look).map(({ kind }) => kind);
    return { absent: kindsWith('absent'), written: kindsWith('written') };
  }

  async #publishIn(kind: Resource<WebhookConfiguration>): Promise<Look> {
    try {
      const { webhooks = [] } = await this.#client.get(kind, { name });
      const body = webhooks.flatMap((hook, index) => this.#operations(hook, index));
      if (body.length === 0) return 'present';
      const patch = { type: 'json', body } as const;
      this.#check(kind, await this.#client.patch(kind, { name }, patch, { fieldManager }));
      return 'written';
    } catch (error) {
      if (isNotFound(error)) return 'absent';
      throw error;
    }
  }

  #operations({ name: hook, clientConfig }: Hook, index: number): JsonPatchOperation[] {
    if (clientConfig.caBundle === this.#bundle) return [];
    return [
      { op: 'test', path: `/webhooks/${index}/name`, value: hook },
      { op: 'add', path: `/webhooks/${index}/clientConfig/caBundle`, value: this.#bundle },
    ];
  }

  /** Something between us and the store may have taken it out again. */
  #check({ kind }: Resource, { webhooks = [] }: WebhookConfiguration): void {
    const without = webhooks.find(({ clientConfig }) => clientConfig.caBundle !== this.#bundle);
    if (without)
      throw new Error(`${kind} ${name}: hook ${without.name} did not keep the CA bundle`);
  }
}
