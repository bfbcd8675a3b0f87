import { capacityOf } from '#schemas/instances/capacity.ts';
import type { PlatformQuotas } from '#schemas/instances/instance-type.ts';
import { unikraftNodeClasses, type UnikraftNodeClassStatus } from '#schemas/nodeclass/types.ts';
import { Quantity } from '#schemas/quantity/quantity.ts';

import type { Context } from '../context.ts';
import type { Reservations } from '../reservations/reservations.ts';
import type { ClaimInHand } from './claim-in-hand.ts';

type Correction = NonNullable<UnikraftNodeClassStatus['capacityCorrections']>[number];

/**
 * Compares what a platform allows with what was predicted for its size. A Node advertises the platform's quotas, so
 * a wrong prediction would plan Pods for room that is not there, and launch again and again. The difference is told
 * and kept in the node class's status, which corrects the prediction for that revision and size from then on. The
 * pool's limits count what is there, also where that is more than was thought.
 */
export class CapacityCheck {
  readonly #context: Context;
  readonly #reservations: Reservations;

  constructor(context: Context, reservations: Reservations) {
    this.#context = context;
    this.#reservations = reservations;
  }

  async run(hand: ClaimInHand, quotas: PlatformQuotas): Promise<void> {
    if (!hand.revision) return;
    const actual = capacityOf(quotas, hand.revision.nodeClass.spec.platform);
    const predicted = hand.status.capacity ?? {};
    const differing = Object.keys(actual).filter((name) => !same(actual[name], predicted[name]));
    if (differing.length === 0) return;
    const what = differing.map((name) => `${name} ${actual[name]} instead of ${predicted[name]}`);
    await this.#reservations.hold(hand.claim, actual);
    await this.#learn(hand, {
      revision: hand.revision.name,
      instanceType: hand.intent?.instanceType ?? '',
      vcpus: quotas.vcpus,
      memoryMiB: quotas.memoryMiB,
      instances: quotas.instances,
    });
    this.#context.recorder.record({
      object: hand.claim,
      type: 'Warning',
      reason: 'QuotasDiffer',
      message: `The platform allows ${what.join(', ')}; the prediction is corrected (KPU326)`,
    });
    // Last: once the claim says so nothing differs any more, and a failure above would never be made good.
    hand.status.capacity = actual;
    hand.status.allocatable = actual;
  }

  /** The list is written whole, so the resourceVersion keeps two claims from losing each other's lesson. */
  async #learn({ identity }: ClaimInHand, learned: Correction): Promise<void> {
    const nodeClass = this.#context.caches.nodeClasses.get(identity.nodeClass);
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
    const patch = { type: 'merge', body } as const;
    await this.#context.client.patch(unikraftNodeClasses, { name }, patch, options);
  }
}

function same(a: string | undefined, b: string | undefined): boolean {
  return Quantity.parse(a ?? '0').compareTo(Quantity.parse(b ?? '0')) === 0;
}
