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

/** What was written is not there when it is read back. */
export class BundleLost extends Error {
  override readonly name = 'BundleLost';
}

type Look = 'absent' | 'present' | 'written';

interface Seen {
  readonly look: Look;
  readonly hooks: number;
}

export interface Published {
  /**
   * Kinds of configurations that are not there, which is no fault: they may be applied after this process is ready, and
   * taking them away is how the webhook is turned off.
   */
  readonly absent: readonly string[];
  /** Kinds of those that lacked the bundle. */
  readonly written: readonly string[];
  /** Entries of all configurations: none of them, none is ever called. */
  readonly hooks: number;
}

/**
 * What both webhook configurations tell the API server to trust. It is written by a JSON patch that tests the hook's
 * name first, never by apply: an applied caBundle leaves half an entry behind when a release renames a hook.
 */
export class CaBundle {
  readonly #client: KubeClient;

  constructor(client: KubeClient) {
    this.#client = client;
  }

  /**
   * Writes the bundle wherever it is not, and reads back that it is there.
   *
   * @param ca PEM of all that the API server is to trust
   * @throws ApiError when the server refuses, also when hooks changed between read and write: look again
   */
  async publish(ca: string): Promise<Published> {
    const bundle = Buffer.from(ca).toString('base64');
    const seen = await Promise.all(
      configurations.map(async (kind) => this.#publishIn(kind, bundle)),
    );
    const kindsWith = (look: Look): string[] =>
      configurations.filter((_, index) => seen[index]?.look === look).map(({ kind }) => kind);
    const hooks = seen.reduce((sum, one) => sum + one.hooks, 0);
    return { absent: kindsWith('absent'), written: kindsWith('written'), hooks };
  }

  /** The bundles (PEM) that stand in the configurations, whoever wrote them; an entry without one gives an empty text. */
  async read(): Promise<{ bundles: string[]; hooks: number }> {
    const found = await Promise.all(configurations.map(async (kind) => this.#get(kind)));
    const hooks = found.flatMap((configuration) => configuration?.webhooks ?? []);
    const bundles = hooks.map(({ clientConfig }) => decoded(clientConfig.caBundle));
    return { bundles: [...new Set(bundles)], hooks: hooks.length };
  }

  async #publishIn(kind: Resource<WebhookConfiguration>, bundle: string): Promise<Seen> {
    const found = await this.#get(kind);
    if (!found) return { look: 'absent', hooks: 0 };
    const { webhooks = [] } = found;
    const body = webhooks.flatMap((hook, index) => operations(hook, index, bundle));
    if (body.length === 0) return { look: 'present', hooks: webhooks.length };
    const patch = { type: 'json', body } as const;
    const written = await orNothing(this.#client.patch(kind, { name }, patch, { fieldManager }));
    if (!written) return { look: 'absent', hooks: 0 };
    check(kind, written, bundle);
    return { look: 'written', hooks: webhooks.length };
  }

  async #get(kind: Resource<WebhookConfiguration>): Promise<WebhookConfiguration | undefined> {
    return orNothing(this.#client.get(kind, { name }));
  }
}

async function orNothing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

function operations(
  { name: hook, clientConfig }: Hook,
  index: number,
  bundle: string,
): JsonPatchOperation[] {
  if (clientConfig.caBundle === bundle) return [];
  return [
    { op: 'test', path: `/webhooks/${index}/name`, value: hook },
    { op: 'add', path: `/webhooks/${index}/clientConfig/caBundle`, value: bundle },
  ];
}

/** Something between us and the store may have taken it out again. */
function check({ kind }: Resource, { webhooks = [] }: WebhookConfiguration, bundle: string): void {
  const without = webhooks.find(({ clientConfig }) => clientConfig.caBundle !== bundle);
  if (without) {
    throw new BundleLost(`${kind} ${name}: hook ${without.name} did not keep the CA bundle`);
  }
}

function decoded(bundle = ''): string {
  return Buffer.from(bundle, 'base64').toString('utf8');
}
