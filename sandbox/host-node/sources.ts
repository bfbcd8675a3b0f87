import type { KubeClient } from '#kube/client/client.ts';
import { isNotFound } from '#kube/client/errors.ts';
import { configMaps, secrets } from '#schemas/kubernetes/resource.ts';

import { CannotPrepare } from './field-ref.ts';

export type SourceKind = 'secret' | 'configMap';

/** The keys of Secrets and ConfigMaps, for files and environment alike. */
export class Sources {
  readonly #client: KubeClient;

  constructor(client: KubeClient) {
    this.#client = client;
  }

  /**
   * @returns undefined when it is optional and not there
   * @throws CannotPrepare when it must be there and is not
   */
  async read(
    kind: SourceKind,
    namespace: string,
    { name, optional = false }: { readonly name: string; readonly optional?: boolean },
  ): Promise<ReadonlyMap<string, Buffer> | undefined> {
    try {
      return kind === 'secret'
        ? await this.#secret(namespace, name)
        : await this.#configMap(namespace, name);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      if (optional) return undefined;
      throw new CannotPrepare(`${kind.toLowerCase()} "${name}" not found`, { cause: error });
    }
  }

  async #secret(namespace: string, name: string): Promise<ReadonlyMap<string, Buffer>> {
    const { data } = await this.#client.get(secrets, { namespace, name });
    return decoded(data);
  }

  async #configMap(namespace: string, name: string): Promise<ReadonlyMap<string, Buffer>> {
    const { data, binaryData } = await this.#client.get(configMaps, { namespace, name });
    const texts = Object.entries(data ?? {}).map(
      ([key, text]) => [key, Buffer.from(text)] as const,
    );
    return new Map([...decoded(binaryData), ...texts]);
  }
}

function decoded(data: Record<string, string> = {}): Map<string, Buffer> {
  return new Map(
    Object.entries(data).map(([key, text]) => [key, Buffer.from(text, 'base64')] as const),
  );
}
