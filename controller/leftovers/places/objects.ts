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

/**
 * Objects of one kind in one namespace that are labelled with the claim that they were made for. No claim owns them
 * (ADR 30): they go in the course of its end, unless somebody took the finalizer off it.
 */
export class ObjectsThere implements Place<FoundObject> {
  readonly kind: 'release' | 'name' | 'secret';
  readonly name: string;
  readonly #client: KubeClient;
  readonly #resource: Resource<KubeObject>;
  readonly #namespace: string | undefined;

  /** @param namespace  undefined for a kind without */
  constructor(
    kind: 'release' | 'name' | 'secret',
    client: KubeClient,
    resource: Resource<KubeObject>,
    namespace: string | undefined,
  ) {
    this.kind = kind;
    this.#client = client;
    this.#resource = resource;
    this.#namespace = namespace;
    this.name = `${resource.plural} of machines${namespace === undefined ? '' : ` in ${namespace}`}`;
  }

  async list(signal: AbortSignal): Promise<readonly FoundObject[]> {
    const namespace = this.#namespace;
    const scope = { labelSelector: labels.claimUid, ...(namespace !== undefined && { namespace }) };
    try {
      const { items } = await this.#client.list(this.#resource, { ...scope, signal });
      return items.map((object) => foundOf(this.#resource.kind, object));
    } catch (error) {
      if (isNotFound(error)) return []; // the kind is another project's, and is not installed
      throw error;
    }
  }

  /** In the foreground what has Pods, so that it is there until the last of them is gone, as at a machine's end. */
  async remove({ id: uid, key }: FoundObject, signal: AbortSignal): Promise<Outcome> {
    const isSet = this.#resource.plural === statefulSets.plural;
    const propagationPolicy = isSet ? 'Foreground' : 'Background';
    try {
      await this.#client.delete(this.#resource, key, { uid, propagationPolicy, signal });
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
    // Pods end after their set, and external-dns is as late with a name as with any
    return isSet || this.kind === 'name' ? 'going' : 'gone';
  }
}

function foundOf(kind: string, { metadata }: Live<KubeObject>): FoundObject {
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
