import type { KubeClient } from '#kube/client/client.ts';
import { isForbidden, isInvalid } from '#kube/client/errors.ts';
import type { KraftletReleases } from '#machine/kraftlet/release.ts';
import type { KubeObject } from '#schemas/kubernetes/meta.ts';
import {
  clusterRoleBindings,
  configMaps,
  podDisruptionBudgets,
  secrets,
  serviceAccounts,
  services,
  statefulSets,
  type Resource,
} from '#schemas/kubernetes/resource.ts';
import { labels, taints } from '#schemas/names.ts';
import { minutes } from '#schemas/time/clock.ts';

import { coded } from '../../reason.ts';
import type { Machines } from '../machine/machines.ts';
import type { ClaimInHand } from '../steps/claim-in-hand.ts';
import { wait, type Outcome } from '../steps/step.ts';
import { immutableNodeLabels } from './node-labels.ts';

const defaultNamespace = 'kraftlet';

/**
 * What a Kraftlet release may consist of, in the order in which it is taken down: first what runs, last what it
 * was allowed to do.
 */
export const releaseResources: readonly Resource<KubeObject>[] = [
  statefulSets,
  podDisruptionBudgets,
  services,
  configMaps,
  secrets,
  serviceAccounts,
  clusterRoleBindings,
];

/**
 * The Kraftlet release of a machine: rendered by Helm from the revision that the machine was made from, and applied by
 * us. The claim does not own it: a claim that is deleted in the foreground would lose it before its Pods (ADR 30).
 */
export class KraftletRelease {
  readonly #client: KubeClient;
  readonly #releases: KraftletReleases;
  readonly #machines: Machines;

  constructor(client: KubeClient, releases: KraftletReleases, machines: Machines) {
    this.#client = client;
    this.#releases = releases;
    this.#machines = machines;
  }

  /** Whether a rendering would wait long for others. */
  get isBusy(): boolean {
    return this.#releases.isBusy;
  }

  /** What the release consists of, in the order in which it is applied; the instance must be in the hand. */
  async render(hand: ClaimInHand, signal: AbortSignal): Promise<readonly KubeObject[]> {
    const endpoint = await this.#machines.endpoint(hand);
    const { nodeClass } = this.#machines.revision(hand);
    const request = {
      identity: hand.identity,
      kraftlet: nodeClass.spec.kraftlet,
      endpoint,
      providerID: hand.status.providerID ?? '',
      architecture: nodeClass.image.architecture,
      nodeLabels: immutableNodeLabels(hand),
      nodeTaint: taints.unregistered,
      hostAliases: this.#machines.hostAliases(hand),
    };
    return this.#releases.render(request, signal);
  }

  /** Those of these objects that the API server has not; caches do not count here, and most kinds have none. */
  async missing(
    hand: ClaimInHand,
    objects: readonly KubeObject[],
    signal: AbortSignal,
  ): Promise<readonly KubeObject[]> {
    const found = await this.#versions(hand, objects, signal);
    return objects.filter((object) => !found.has(nameOf(object)));
  }

  /**
   * Applies all of it again, so that what somebody changed is as it was rendered.
   *
   * @returns those that were not so, or why the API server refuses
   */
  async renew(
    hand: ClaimInHand,
    objects: readonly KubeObject[],
    signal: AbortSignal,
  ): Promise<{ readonly changed: readonly KubeObject[]; readonly refused?: Outcome }> {
    const before = await this.#versions(hand, objects, signal);
    const refused = await this.apply(objects, signal);
    const after = await this.#versions(hand, objects, signal);
    const isChanged = (object: KubeObject): boolean =>
      before.get(nameOf(object)) !== after.get(nameOf(object));
    return { changed: objects.filter(isChanged), ...(refused && { refused }) };
  }

  /** Generations where there are such, since a status is written all the time; else resourceVersions. */
  async #versions(
    hand: ClaimInHand,
    objects: readonly KubeObject[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    const look = async (resource: Resource<KubeObject>): Promise<void> => {
      const { items } = await this.#client.list(resource, { ...scopeOf(hand, resource), signal });
      for (const { metadata } of items) {
        const { uid, generation, resourceVersion } = metadata;
        found.set(`${resource.kind}/${metadata.name}`, `${uid}/${generation ?? resourceVersion}`);
      }
    };
    await Promise.all([...new Set(objects.map(releaseResource))].map(look));
    return found;
  }

  /** @returns why the API server takes none of it, if it does not */
  async apply(objects: readonly KubeObject[], signal: AbortSignal): Promise<Outcome | undefined> {
    try {
      for (const object of objects) {
        const { namespace, name = '' } = object.metadata ?? {};
        const key = namespace === undefined ? { name } : { namespace, name };
        const patch = { type: 'apply', body: object, force: true } as const;
        // oxlint-disable-next-line no-await-in-loop -- in order: the StatefulSet needs what comes before it
        await this.#client.patch(releaseResource(object), key, patch, { signal });
      }
      return undefined;
    } catch (error) {
      return refusalOf(error);
    }
  }
}

function nameOf({ kind, metadata }: KubeObject): string {
  return `${kind}/${metadata?.name}`;
}

/** Where the objects of a kind that belong to a machine are, for lists. */
export function scopeOf(
  { identity, revision }: ClaimInHand,
  { namespaced }: Resource,
): { namespace?: string; labelSelector: string } {
  const labelSelector = `${labels.claimUid}=${identity.claimUid}`;
  const namespace = revision?.nodeClass.spec.kraftlet.namespace ?? defaultNamespace;
  return namespaced ? { namespace, labelSelector } : { labelSelector };
}

/** Throws for a kind that rendering should have refused. */
function releaseResource({ kind, metadata }: KubeObject): Resource<KubeObject> {
  const found = releaseResources.find((resource) => resource.kind === kind);
  if (!found) throw new Error(`a Kraftlet release cannot hold ${kind} ${metadata?.name}`);
  return found;
}

/** What the API server will refuse again tomorrow, so people should read it on the claim. */
function refusalOf(error: unknown): Outcome {
  if (!isForbidden(error) && !isInvalid(error)) throw error;
  return wait({
    after: minutes(1),
    reason: 'KraftletReleaseRefused',
    message: coded(`The API server takes no Kraftlet release: ${error.text}`, 'KPU328'),
    status: 'False',
    failed: true,
  });
}
