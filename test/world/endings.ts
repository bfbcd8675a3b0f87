import type { KubeClient } from '#kube/client/client.ts';
import type { KubeObject } from '#schemas/kubernetes/meta.ts';
import { nodes, pods, type Resource } from '#schemas/kubernetes/resource.ts';

/**
 * In which order Pods and Nodes came to an end. Versions are etcd's revisions, one row for all kinds, and that of a
 * deletion is in its event.
 */
export class Endings {
  readonly #at = new Map<string, bigint>();
  readonly #end = new AbortController();
  readonly #watching: Promise<unknown>;

  private constructor(client: KubeClient, since: readonly [Resource<KubeObject>, string][]) {
    this.#watching = Promise.all(
      since.map(async ([resource, resourceVersion]) =>
        this.#watch(client, resource, resourceVersion).catch(() => {}),
      ),
    );
  }

  /** Of what is there now, and comes. */
  static async watch(client: KubeClient): Promise<Endings> {
    const resources: Resource<KubeObject>[] = [pods, nodes];
    const begun = resources.map(async (resource) => {
      const { metadata } = await client.list(resource);
      return [resource, metadata?.resourceVersion ?? ''] as [Resource<KubeObject>, string];
    });
    return new Endings(client, await Promise.all(begun));
  }

  /** @returns undefined while it is there */
  of({ metadata }: KubeObject): bigint | undefined {
    return this.#at.get(metadata?.uid ?? '');
  }

  async stop(): Promise<void> {
    this.#end.abort();
    await this.#watching;
  }

  async #watch(
    client: KubeClient,
    resource: Resource<KubeObject>,
    resourceVersion: string,
  ): Promise<void> {
    const { signal } = this.#end;
    const options = { resourceVersion, timeoutSeconds: 600, signal };
    for await (const event of client.watch(resource, options)) {
      if (event.type !== 'DELETED') continue;
      const { uid, resourceVersion: version } = event.object.metadata;
      this.#at.set(uid, BigInt(version));
    }
  }
}
