import type { KubeClient } from '#kube/client/client.ts';
import { isConflict, isNotFound } from '#kube/client/errors.ts';
import type { KubeObject, Live } from '#schemas/kubernetes/meta.ts';
import { type Key, type Resource, statefulSets } from '#schemas/kubernetes/resource.ts';
import { labels } from '#schemas/names.ts';

import type { Found, Outcome, Place } from '../place.ts';

/** Its key only: the object may be a Secret. */
interface FoundObject extends Found {
  readonly key: Key;
}

interface Objects {
  readonly kind: 'release' | 'name' | 'certificate' | 'secret';
  readonly resource: Resource<KubeObject>;
  /** Undefined for a kind without. */
  readonly namespace: string | undefined;
  /** Of those that are labelled; all, if undefined. */
  readonly isOne?: (object: KubeObject) => boolean;
}

/**
 * Objects of one kind in one namespace that are labelled with the claim that they were made for. No claim owns them
 * (ADR 30): they go in the course of its end, unless somebody took the finalizer off it.
 */
export class ObjectsThere implements Place<FoundObject> {
  readonly kind: Objects['kind'];
  readonly name: string;
  readonly #client: KubeClient;
  readonly #objects: Objects;

  constructor(client: KubeClient, objects: Objects) {
    const { kind, resource, namespace } = objects;
    this.kind = kind;
    this.#client = client;
    this.#objects = objects;
    // both kinds of Secrets may be in one namespace
    const whose = kind === 'release' ? 'Kraftlet releases' : 'machines';
    this.name = `${resource.plural} of ${whose}${namespace === undefined ? '' : ` in ${namespace}`}`;
  }

  async list(signal: AbortSignal): Promise<readonly FoundObject[]> {
    const { resource, namespace, isOne = () => true } = this.#objects;
    const scope = { labelSelector: labels.claimUid, ...(namespace !== undefined && { namespace }) };
    try {
      const { items } = await this.#client.list(resource, { ...scope, signal });
      // items of a list do not say of what kind they are
      const all = items.map((object) => ({ ...object, kind: resource.kind }));
      return all.filter(isOne).map(foundOf);
    } catch (error) {
      if (isNotFound(error)) return []; // the kind is another project's, and is not installed
      throw error;
    }
  }

  /** In the foreground what has Pods, so that it is there until the last of them is gone, as at a machine's end. */
  async remove({ id: uid, key }: FoundObject, signal: AbortSignal): Promise<Outcome> {
    const { resource } = this.#objects;
    const isSet = resource.plural === statefulSets.plural;
    const propagationPolicy = isSet ? 'Foreground' : 'Background';
    try {
      await this.#client.delete(resource, key, { uid, propagationPolicy, signal });
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
    // Pods end after their set, and external-dns is as late with a name as with any
    return isSet || this.kind === 'name' ? 'going' : 'gone';
  }
}

function foundOf({ kind, metadata }: Live<KubeObject>): FoundObject {
  const { uid, namespace, name, labels: own = {}, deletionTimestamp } = metadata;
  return {
    id: uid,
    claimUid: own[labels.claimUid] ?? '',
    nodeClass: own[labels.nodeClass],
    about: `${kind} ${name}`,
    key: namespace === undefined ? { name } : { namespace, name },
    ...(deletionTimestamp !== undefined && { isBusy: true }),
  };
}
