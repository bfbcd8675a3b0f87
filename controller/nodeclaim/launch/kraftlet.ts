import type { KubeClient } from '#kube/client/client.ts';
import { isForbidden, isInvalid } from '#kube/client/errors.ts';
import type { KraftletReleases } from '#machine/kraftlet/release.ts';
import type { PlatformEndpoint } from '#machine/machine.ts';
import { nodeClaims } from '#schemas/karpenter/types.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import type { KubeObject, OwnerReference } from '#schemas/kubernetes/meta.ts';
import { apiVersionOf } from '#schemas/kubernetes/resource.ts';
import { taints } from '#schemas/names.ts';
import { minutes } from '#schemas/time/clock.ts';

import { by, type Caches } from '../../caches.ts';
import { coded } from '../../reason.ts';
import type { ClaimInHand } from '../claim-in-hand.ts';
import { releaseResource } from '../kraftlet-release.ts';
import type { Machines } from '../machines.ts';
import { immutableNodeLabels } from '../node-labels.ts';
import { done, wait, type Outcome, type Step } from '../step.ts';
import { podTrouble } from './pod-trouble.ts';

/**
 * One Kraftlet release per machine, rendered by Helm and applied by us, so that it belongs to its claim and goes
 * with it. Kraftlet then registers the Node, which is born with the unregistered taint as its only one: the chart
 * can give one taint, and a Node must not take Pods before registration opens it.
 */
export class Kraftlet implements Step {
  readonly condition = 'KraftletInstalled';
  readonly #client: KubeClient;
  readonly #caches: Caches;
  readonly #releases: KraftletReleases;
  readonly #machines: Machines;

  constructor(client: KubeClient, caches: Caches, releases: KraftletReleases, machines: Machines) {
    this.#client = client;
    this.#caches = caches;
    this.#releases = releases;
    this.#machines = machines;
  }

  async run(hand: ClaimInHand, signal: AbortSignal): Promise<Outcome> {
    const { claimUid, name } = hand.identity;
    const [release] = this.#caches.statefulSets.by(by.claimUid, claimUid);
    const refused = release ? undefined : await this.#install(hand, signal).catch(refusalOf);
    if (refused) return refused;
    if ((release?.status?.readyReplicas ?? 0) > 0) return done();
    const trouble = this.#caches.pods.by(by.claimUid, claimUid).map((pod: Pod) => podTrouble(pod));
    const found = trouble.find((one) => one !== undefined);
    if (found) return wait({ ...found, status: 'False', failed: true });
    const message = `Waiting until the Pod of Kraftlet release ${name} is ready`;
    return wait({ reason: 'KraftletStarting', message });
  }

  async #install(hand: ClaimInHand, signal: AbortSignal): Promise<undefined> {
    const objects = await this.#render(hand, await this.#machines.endpoint(hand), signal);
    for (const object of objects) {
      const owned = { ...object, metadata: { ...object.metadata, ownerReferences: [owner(hand)] } };
      const { namespace, name = '' } = object.metadata ?? {};
      const key = namespace === undefined ? { name } : { namespace, name };
      const patch = { type: 'apply', body: owned, force: true } as const;
      // oxlint-disable-next-line no-await-in-loop -- in order: the StatefulSet needs what comes before it
      await this.#client.patch(releaseResource(object), key, patch, { signal });
    }
    return undefined;
  }

  #render(
    hand: ClaimInHand,
    endpoint: PlatformEndpoint,
    signal: AbortSignal,
  ): Promise<readonly KubeObject[]> {
    const { nodeClass } = this.#machines.revision(hand);
    const request = {
      identity: hand.identity,
      kraftlet: nodeClass.spec.kraftlet,
      endpoint,
      providerID: hand.status.providerID ?? '',
      architecture: nodeClass.image.architecture,
      nodeLabels: immutableNodeLabels(hand),
      nodeTaint: taints.unregistered,
    };
    return this.#releases.render(request, signal);
  }
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

function owner({ claim }: ClaimInHand): OwnerReference {
  const { name, uid } = claim.metadata;
  return { apiVersion: apiVersionOf(nodeClaims), kind: nodeClaims.kind, name, uid };
}
