import type { KubeClient } from '#kube/client/client.ts';
import { isAlreadyExists, isNotFound } from '#kube/client/errors.ts';
import type { ControllerRevision } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { controllerRevisions } from '#schemas/kubernetes/resource.ts';
import { annotations, finalizers, group, labels } from '#schemas/names.ts';
import type { ResolvedNodeClass, UnikraftNodeClass } from '#schemas/nodeclass/types.ts';

import { by } from '../caches.ts';
import type { Context } from '../context.ts';
import { isOurs } from '../ours.ts';
import { specHash } from './identity.ts';
import { resolvedIn } from './revisions.ts';
import { ownedBy } from './secrets.ts';

/** The hash of the spec alone, by which a spec finds the image that was pinned for it. */
const specHashAnnotation = `${group}/spec-hash`;
/** As many old revisions are kept as a Deployment keeps, for a look back. */
const historyLimit = 10;

/**
 * The ControllerRevisions of node classes. Their data never changes (the API server sees to that); the revision
 * number moves up when an old one becomes the newest again.
 *
 * Each carries a finalizer: a node class that is deleted in the foreground, as Argo CD does, would take its revisions
 * with it at once, and the claims that still need them could no longer end their machines.
 */
export class StoredRevisions {
  readonly #client: KubeClient;
  readonly #context: Pick<Context, 'caches' | 'namespace'>;

  constructor(client: KubeClient, context: Pick<Context, 'caches' | 'namespace'>) {
    this.#client = client;
    this.#context = context;
  }

  /** All of a class, newest first. */
  of(nodeClass: string): Live<ControllerRevision>[] {
    return this.#context.caches.revisions
      .list()
      .filter(({ metadata }) => metadata.labels?.[labels.nodeClass] === nodeClass)
      .toSorted((a, b) => b.revision - a.revision);
  }

  /** The newest one that was made from this spec. */
  forSpec({ metadata, spec }: Live<UnikraftNodeClass>): Live<ControllerRevision> | undefined {
    const hash = specHash(spec);
    return this.of(metadata.name).find(
      (one) => one.metadata.annotations?.[specHashAnnotation] === hash && resolvedIn(one),
    );
  }

  /**
   * Stores what was resolved under `name`, or makes it the newest again.
   *
   * @returns the number of the revision, and whether anything was written
   */
  async ensure(
    name: string,
    nodeClass: Live<UnikraftNodeClass>,
    resolved: ResolvedNodeClass,
  ): Promise<{ number: number; written: boolean }> {
    const all = this.of(nodeClass.metadata.name);
    const [newest] = all;
    const found = all.find(({ metadata }) => metadata.name === name);
    if (found && found === newest) return { number: found.revision, written: false };
    const number = (newest?.revision ?? 0) + 1;
    await (found ? this.#renumber(name, number) : this.#create(name, number, nodeClass, resolved));
    return { number, written: true };
  }

  /** Removes what nobody needs: not named in `needed` nor by a claim, and not among the newest of the rest. */
  async prune(nodeClass: string, needed: readonly (string | undefined)[]): Promise<void> {
    const kept = new Set([...needed, ...this.#namedByClaims(nodeClass)]);
    const spare = this.of(nodeClass).filter(({ metadata }) => !kept.has(metadata.name));
    await Promise.all(spare.slice(historyLimit).map(async (one) => this.#remove(one)));
  }

  async removeAll(nodeClass: string): Promise<void> {
    await Promise.all(this.of(nodeClass).map(async (one) => this.#remove(one)));
  }

  #namedByClaims(nodeClass: string): string[] {
    return this.#context.caches.nodeClaims
      .by(by.nodeClass, nodeClass)
      .filter(isOurs)
      .flatMap(({ metadata }) => metadata.annotations?.[annotations.revision] ?? []);
  }

  async #create(
    name: string,
    number: number,
    nodeClass: Live<UnikraftNodeClass>,
    resolved: ResolvedNodeClass,
  ): Promise<void> {
    const object: ControllerRevision = {
      metadata: {
        name,
        namespace: this.#context.namespace,
        labels: { [labels.nodeClass]: nodeClass.metadata.name },
        annotations: { [specHashAnnotation]: specHash(nodeClass.spec) },
        finalizers: [finalizers.nodeClass],
        ownerReferences: [ownedBy(nodeClass)],
      },
      revision: number,
      data: resolved,
    };
    await this.#client.create(controllerRevisions, object).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error; // the cache has not seen our last write yet
    });
  }

  async #renumber(name: string, revision: number): Promise<void> {
    const key = { namespace: this.#context.namespace, name };
    await this.#client.patch(controllerRevisions, key, { type: 'merge', body: { revision } });
  }

  /** First the deletion, then the finalizer: a crash in between leaves one that the next pass finishes. */
  async #remove({ metadata }: Live<ControllerRevision>): Promise<void> {
    const key = { namespace: this.#context.namespace, name: metadata.name };
    try {
      if (metadata.deletionTimestamp === undefined) {
        await this.#client.delete(controllerRevisions, key, { uid: metadata.uid });
      }
      const body = { metadata: { uid: metadata.uid, finalizers: null } };
      await this.#client.patch(controllerRevisions, key, { type: 'merge', body });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}
