import type { KubeClient } from '#kube/client/client.ts';
import { isForbidden, isNotFound } from '#kube/client/errors.ts';
import { getCondition } from '#kube/conditions.ts';
import type { Node } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { leases } from '#schemas/kubernetes/resource.ts';
import { hours, minutes, type Clock, type Instant } from '#schemas/time/clock.ts';

/** Twelve times as long as a Kraftlet lets pass between two renewals of its Lease. */
const longEnough = minutes(2);
/** By then a Node is gone, or will be watched for two minutes more. */
const forgotten = hours(1);

interface Heard {
  readonly version: string;
  readonly since: Instant;
}

/**
 * Whether the Kraftlet of a Node has fallen silent. It is watched, not reckoned from times that it wrote itself, since its
 * clock may be wrong: the same version of its Lease at looks that are two minutes apart by our clock, while
 * kube-controller-manager says that nobody reports the Node. What was seen is forgotten with a restart, and seen anew.
 */
export class Silence {
  readonly #client: KubeClient;
  readonly #clock: Clock;
  /** By UID of the Node. */
  readonly #heard = new Map<string, Heard>();

  constructor(client: KubeClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** @param node as the API server has it now */
  async lasts(node: Live<Node>, signal: AbortSignal): Promise<boolean> {
    const now = this.#clock.now();
    const { uid } = node.metadata;
    this.#forget(now);
    const version = isUnheard(node) ? await this.#version(node, signal) : undefined;
    const heard = this.#heard.get(uid);
    if (version !== undefined && heard?.version === version) return now - heard.since >= longEnough;
    if (version === undefined) this.#heard.delete(uid);
    else this.#remember(uid, { version, since: now });
    return false;
  }

  /** At the end of the map, so that it stands in the order of `since`. */
  #remember(uid: string, heard: Heard): void {
    this.#heard.delete(uid);
    this.#heard.set(uid, heard);
  }

  /** The oldest stand first, so that a look costs what it takes away and one more, not all that is watched. */
  #forget(now: Instant): void {
    for (const [uid, { since }] of this.#heard) {
      if (now - since <= forgotten) return;
      this.#heard.delete(uid);
    }
  }

  /** @returns undefined where the Lease may not be read: then nothing is proven */
  async #version({ metadata }: Live<Node>, signal: AbortSignal): Promise<string | undefined> {
    const key = { namespace: 'kube-node-lease', name: metadata.name };
    try {
      return (await this.#client.get(leases, key, { signal })).metadata.resourceVersion;
    } catch (error) {
      if (isNotFound(error)) return 'none';
      if (isForbidden(error)) return undefined;
      throw error;
    }
  }
}

/** kube-controller-manager says Unknown once neither status nor Lease has been written for 40 to 50 s. */
export function isUnheard({ status }: Node): boolean {
  return getCondition(status?.conditions, 'Ready')?.status === 'Unknown';
}
