import type { KubeClient } from '#kube/client/client.ts';
import type { EventRecorder } from '#kube/runtime/events.ts';
import { capacityOf } from '#schemas/instances/capacity.ts';
import type { PlatformQuotas } from '#schemas/instances/instance-type.ts';
import { unikraftNodeClasses, type UnikraftNodeClassStatus } from '#schemas/nodeclass/types.ts';
import { Quantity } from '#schemas/quantity/quantity.ts';

import type { Caches } from '../caches.ts';
import type { ClaimInHand } from './claim-in-hand.ts';

type Correction = NonNullable<UnikraftNodeClassStatus['capacityCorrections']>[number];

/**
 * Compares what a platform allows with what was predicted for its size. A Node advertises the platform's quotas, so
 * a wrong prediction would plan Pods for room that is not there, and launch again and again. The difference is told
 * and kept in the node class's status, which corrects the prediction for that revision and size from then on.
 */
export class CapacityCheck {
  readonly #client: KubeClient;
  readonly #caches: Caches;
  readonly #recorder: EventRecorder;

  constructor(client: KubeClient, caches: Caches, recorder: EventRecorder) {
    this.#client = client;
    this.#caches = caches;
    this.#recorder = recorder;
  }

  async run(hand: ClaimInHand, quotas: PlatformQuotas): Promise<void> {
    if (!hand.revision) return;
    const actual = capacityOf(quotas, hand.revision.nodeClass.spec.platform);
    const predicted = hand.status.capacity ?? {};
    const differing = Object.keys(actual).filter((name) => !same(actual[name], predicted[name]));
    if (differing.length === 0) return;
    const what = differing.map((name) => `${name} ${actual[name]} instead of ${predicted[name]}`);
    this.#recorder.record({
      object: hand.claim,
      type: 'Warning',
      reason: 'QuotasDiffer',
      message: `The platform allows ${what.join(', ')}; the prediction is corrected (KPU326)`,
    });
    hand.status.capacity = actual;
    hand.status.allocatable = actual;
    await this.#learn(hand, {
      revision: hand.revision.name,
      instanceType: hand.intent?.instanceType ?? '',
      vcpus: quotas.vcpus,
      memoryMiB: quotas.memoryMiB,
      instances: quotas.instances,
    });
  }

  /** The list is written whole, so the resourceVersion keeps two claims from losing each other's lesson. */
  async #learn({ identity }: ClaimInHand, learned: Correction): Promise<void> {
    const nodeClass = this.#caches.nodeClasses.get(identity.nodeClass);
    if (!nodeClass) return;
    const { name, resourceVersion } = nodeClass.metadata;
    const others = (nodeClass.status?.capacityCorrections ?? []).filter(
      ({ revision, instanceType }) =>
        revision !== learned.revision || instanceType !== learned.instanceType,
    );
    const body = {
      metadata: { resourceVersion },
      status: { capacityCorrections: [...others, learned].slice(-100) },
    };
    const options = { subresource: 'status' };
    await this.#client.patch(unikraftNodeClasses, { name }, { type: 'merge', body }, options);
  }
}

function same(a: string | undefined, b: string | undefined): boolean {
  return Quantity.parse(a ?? '0').compareTo(Quantity.parse(b ?? '0')) === 0;
}
