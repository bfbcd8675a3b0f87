import type { KubeClient } from '#kube/client/client.ts';
import type { Resource } from '#schemas/kubernetes/resource.ts';

interface ResourceListBody {
  resources?: { name: string; kind: string; namespaced: boolean }[];
}

/** Finds where the API server serves a kind, asking once per group and version. */
export class Discovery {
  readonly #client: KubeClient;
  readonly #lists = new Map<string, Promise<ResourceListBody>>();

  constructor(client: KubeClient) {
    this.#client = client;
  }

  /** @returns undefined when the server does not serve the kind */
  async find({
    apiVersion,
    kind,
  }: {
    apiVersion: string;
    kind: string;
  }): Promise<Resource | undefined> {
    const { resources = [] } = await this.#list(apiVersion);
    const found = resources.find((entry) => entry.kind === kind && !entry.name.includes('/'));
    if (!found) {
      this.#lists.delete(apiVersion); // it may be served later, once its CRD is
      return undefined;
    }
    const [version = '', group = ''] = apiVersion.split('/').toReversed();
    return { group, version, kind, plural: found.name, namespaced: found.namespaced };
  }

  async #list(apiVersion: string): Promise<ResourceListBody> {
    const root = apiVersion.includes('/') ? 'apis' : 'api';
    const known =
      this.#lists.get(apiVersion) ?? this.#client.raw(`/${root}/${apiVersion}`).then(asList);
    this.#lists.set(apiVersion, known);
    return known;
  }
}

/** A group that is not served answers 404, which the client gives as undefined. */
function asList(body: unknown): ResourceListBody {
  return (body ?? {}) as ResourceListBody;
}
