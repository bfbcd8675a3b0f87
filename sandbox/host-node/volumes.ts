/**
 * Makes the folders that a Pod's volumes stand for. They are made once, when the Pod starts: a Secret that changes
 * later is seen by the next Pod.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import type { KubeClient } from '#kube/client/client.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { seconds } from '#schemas/time/clock.ts';

import { requestToken } from '../control-plane/service-account.ts';
import { CannotPrepare, fieldValue } from './field-ref.ts';
import type {
  DownwardSource,
  ObjectSource,
  ProjectedSource,
  TokenSource,
  Volume,
} from './pod-spec.ts';
import { Sources, type SourceKind } from './sources.ts';

/** Content by path inside of the volume. */
type Files = ReadonlyMap<string, string | Buffer>;

const NO_FILES: Files = new Map();

/** Makes the volumes of one Pod. */
export class Volumes {
  readonly #client: KubeClient;
  readonly #sources: Sources;
  readonly #pod: Live<Pod>;
  readonly #namespace: string;

  constructor(client: KubeClient, pod: Live<Pod>) {
    this.#client = client;
    this.#sources = new Sources(client);
    this.#pod = pod;
    this.#namespace = pod.metadata.namespace ?? 'default';
  }

  /**
   * @param root the Pod's own folder
   * @returns the folder of each volume, by name
   * @throws CannotPrepare when a Secret, ConfigMap or key is missing, or for a kind of volume that is not known here
   */
  async materialise(root: string): Promise<ReadonlyMap<string, string>> {
    const volumes = (this.#pod.spec?.volumes ?? []) as readonly Volume[];
    const made = volumes.map(async (volume) => {
      const folder = join(root, 'volumes', volume.name);
      await write(folder, await this.#filesOf(volume));
      return [volume.name, folder] as const;
    });
    return new Map(await Promise.all(made));
  }

  async #filesOf(volume: Volume): Promise<Files> {
    if (volume.emptyDir) return NO_FILES;
    if (volume.projected) return this.#projected(volume.projected.sources ?? []);
    const known = volume.secret ?? volume.configMap ?? volume.downwardAPI;
    if (!known) {
      const kind = Object.keys(volume).find((key) => key !== 'name') ?? 'of no kind';
      throw new CannotPrepare(`volume "${volume.name}": the host node does not know ${kind}`);
    }
    return this.#source(volume);
  }

  async #projected(sources: readonly ProjectedSource[]): Promise<Files> {
    const parts = await Promise.all(sources.map((source) => this.#source(source)));
    return new Map(parts.flatMap((files) => [...files]));
  }

  async #source(source: ProjectedSource): Promise<Files> {
    if (source.secret) return this.#object('secret', source.secret);
    if (source.configMap) return this.#object('configMap', source.configMap);
    if (source.serviceAccountToken) return this.#token(source.serviceAccountToken);
    return this.#downward(source.downwardAPI ?? {});
  }

  async #object(kind: SourceKind, source: ObjectSource): Promise<Files> {
    const { optional = false, items } = source;
    const name = source.secretName ?? source.name ?? '';
    const data = await this.#sources.read(kind, this.#namespace, { name, optional });
    if (!data) return NO_FILES;
    if (!items) return data;
    const files = items.flatMap(({ key, path }) => {
      const content = data.get(key);
      if (content) return [[path, content] as const];
      if (optional) return [];
      throw new CannotPrepare(`${kind.toLowerCase()} "${name}" has no key "${key}"`);
    });
    return new Map(files);
  }

  async #token({ path, audience, expirationSeconds = 3600 }: TokenSource): Promise<Files> {
    const { name, uid } = this.#pod.metadata;
    const account = this.#pod.spec?.serviceAccountName ?? 'default';
    const token = await requestToken(
      this.#client,
      { namespace: this.#namespace, name: account },
      {
        expires: seconds(expirationSeconds),
        audiences: audience ? [audience] : [],
        pod: { name, uid },
      },
    );
    return new Map([[path, token]]);
  }

  #downward({ items = [] }: DownwardSource): Files {
    return new Map(
      items.map(({ path, fieldRef }) => [path, fieldValue(this.#pod, fieldRef?.fieldPath ?? '')]),
    );
  }
}

async function write(folder: string, files: Files): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const writes = [...files].map(async ([path, content]) => {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content, { mode: 0o600 });
  });
  await Promise.all(writes);
}
