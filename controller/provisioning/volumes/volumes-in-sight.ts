/**
 * What planning is told of volumes: where those of the Pods that wait can be, who mounts them, and what nodes attach.
 *
 * A Pod's volumes are found out once, and again when any claim, volume or class says something else. Pods without volumes
 * cost a look at one field.
 */
import type { Informer } from '#kube/cache/informer.ts';
import type { Attachments, NodeInSight, PodVolumes, Problem } from '#scheduling/solver.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import type { KubeObject, Live } from '#schemas/kubernetes/meta.ts';
import { keyText } from '#schemas/kubernetes/resource.ts';

import type { Context } from '../../context.ts';
import type { Slices } from '../slices.ts';
import { NodeVolumes } from './node-volumes.ts';
import { claimName, className, resolve, volumeName, type Resolved } from './resolve.ts';
import type { Storage } from './storage.ts';

/** What is looked at. */
export interface VolumesPicture {
  /** Those that a place is sought for. */
  readonly pods: readonly Live<Pod>[];
  readonly nodes: readonly NodeInSight[];
  /** Pods that are on a Node and not over, by its name. */
  readonly placed: ReadonlyMap<string, readonly Live<Pod>[]>;
}

type Told = Required<Pick<Problem, 'volumes' | 'nodes'>>;

const noVolumes: Told['volumes'] = new Map();

export class VolumesInSight {
  readonly #caches: Context['caches'];
  readonly #nodes: NodeVolumes;
  /** Objects of the caches never change; null: the Pod has none. */
  #known = new WeakMap<Pod, Resolved | null>();
  /** What the Pods of the last look asked for. */
  #asked: ReadonlySet<string> = new Set();

  constructor(context: Pick<Context, 'caches' | 'namespace'>) {
    this.#caches = context.caches;
    this.#nodes = new NodeVolumes(context, (pod) => this.#of(pod)?.volumes.attached ?? {});
  }

  async look({ pods, nodes, placed }: VolumesPicture, slices: Slices): Promise<Told> {
    const asked = new Set<string>();
    const found: [string, PodVolumes][] = [];
    await slices.each(pods, (pod) => {
      const resolved = this.#of(pod);
      if (!resolved) return;
      found.push([keyText(pod.metadata), resolved.volumes]);
      for (const name of resolved.asked) asked.add(name);
    });
    this.#asked = asked;
    if (found.length === 0) return { volumes: noVolumes, nodes };
    const drivers = [...new Set(found.flatMap(([, { attached }]) => Object.keys(attached)))];
    const told = await this.#nodes.of(nodes, { drivers, placed }, slices);
    const limited = new Set(told.flatMap(({ attachLimits = {} }) => Object.keys(attachLimits)));
    const volumes = await slices.map(found, ([key, all]) => [key, counted(all, limited)] as const);
    return { volumes: new Map(volumes), nodes: told };
  }

  /** Calls `wake` when something changes that Pods of the last look may wait for. */
  follow(wake: () => void, signal: AbortSignal): void {
    const { persistentVolumeClaims, persistentVolumes, storageClasses, csiNodes } = this.#caches;
    const stops = [
      this.#follow(persistentVolumeClaims, claimName, wake),
      this.#follow(persistentVolumes, volumeName, wake),
      this.#follow(storageClasses, className, wake),
      csiNodes.subscribe({
        update: (now, old) => {
          if (this.#asked.size > 0 && textOf(now) !== textOf(old)) wake();
        },
      }),
    ];
    signal.addEventListener('abort', () => stops.forEach((stop) => stop()), { once: true });
  }

  #follow<T extends KubeObject>(
    cache: Informer<T>,
    nameOf: (key: string) => string,
    wake: () => void,
  ): () => void {
    const news = (object: Live<T>): void => {
      this.#known = new WeakMap();
      if (this.#asked.has(nameOf(keyText(object.metadata)))) wake();
    };
    return cache.subscribe({
      add: news,
      delete: news,
      update: (now, old) => {
        if (textOf(now) !== textOf(old)) news(now);
      },
    });
  }

  #of(pod: Live<Pod>): Resolved | null {
    if (!pod.spec?.volumes?.length) return null;
    const known = this.#known.get(pod);
    if (known !== undefined) return known;
    const storage = this.#storage();
    const resolved = resolve(pod, storage) ?? null;
    if (storage.forbidden.length === 0) this.#known.set(pod, resolved); // else no event says that it is known now
    return resolved;
  }

  #storage(): Storage {
    const { persistentVolumeClaims, persistentVolumes, storageClasses } = this.#caches;
    const all = [persistentVolumeClaims, persistentVolumes, storageClasses];
    return {
      claim: (key) => persistentVolumeClaims.get(key),
      volume: (name) => persistentVolumes.get(name),
      storageClass: (name) => storageClasses.get(name),
      forbidden: all.filter((one) => one.isForbidden).map(({ resource }) => resource.plural),
    };
  }
}

/** Names of volumes are told only where somebody counts them: they make each Pod one of its own kind. */
function counted(volumes: PodVolumes, limited: ReadonlySet<string>): PodVolumes {
  const attached: Attachments = Object.fromEntries(
    Object.entries(volumes.attached).filter(([driver]) => limited.has(driver)),
  );
  return { ...volumes, attached };
}

/** All that is kept, but for the version. */
function textOf({ metadata, ...rest }: KubeObject): string {
  return JSON.stringify([{ ...metadata, resourceVersion: '' }, rest]);
}
