import { isDeepStrictEqual } from 'node:util';

import { capacityOf } from '#schemas/instances/capacity.ts';
import type { PlatformQuotas } from '#schemas/instances/instance-type.ts';
import type { Node } from '#schemas/kubernetes/core.ts';
import type { ResourceList } from '#schemas/kubernetes/meta.ts';
import { unikraftNodeClasses, type UnikraftNodeClassStatus } from '#schemas/nodeclass/types.ts';
import { Quantity } from '#schemas/quantity/quantity.ts';

import type { Context } from '../../context.ts';
import type { Reservations } from '../../reservations/reservations.ts';
import type { ClaimInHand } from '../steps/claim-in-hand.ts';

type Correction = NonNullable<UnikraftNodeClassStatus['capacityCorrections']>[number];

const bytesPerMiB = 1_048_576n;

/** What a size turned out to give, in the units of its prediction. */
type Found = Pick<PlatformQuotas, 'vcpus' | 'memoryMiB' | 'instances'>;

/**
 * Compares what a platform allows, and then what its Node advertises, with what was predicted for its size. The two
 * should be the same; a wrong prediction would plan Pods for room that is not there, and launch again and again. The
 * difference is told and kept in the node class's status, which corrects the prediction for that revision and size
 * from then on. The pool's limits count what is there, also where that is more than was thought.
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
    await this.#compare(hand, actual, quotas, 'The platform allows');
  }

  /** What kube-scheduler will count with. A Node that does not show all of it yet is no lesson. */
  async advertised(hand: ClaimInHand, { status }: Node): Promise<void> {
    const found = foundIn(status?.allocatable ?? {});
    if (!hand.revision || !found) return;
    const { cpu = '', memory = '', pods = '' } = status?.allocatable ?? {};
    await this.#compare(
      hand,
      { ...hand.status.capacity, cpu, memory, pods },
      found,
      'The Node offers',
    );
  }

  async #compare(
    hand: ClaimInHand,
    actual: ResourceList,
    { vcpus, memoryMiB, instances }: Found,
    who: string,
  ): Promise<void> {
    const predicted = hand.status.capacity ?? {};
    const differing = Object.keys(actual).filter((name) => !same(actual[name], predicted[name]));
    if (differing.length === 0) return;
    const what = differing.map((name) => `${name} ${actual[name]} instead of ${predicted[name]}`);
    await this.#reservations.hold(hand.claim, actual);
    const revision = hand.revision?.name ?? '';
    const instanceType = hand.intent?.instanceType ?? '';
    await this.#learn(hand, { revision, instanceType, vcpus, memoryMiB, instances });
    this.#context.recorder.record({
      object: hand.claim,
      type: 'Warning',
      reason: 'QuotasDiffer',
      message: `${who} ${what.join(', ')}; the prediction is corrected (KPU326)`,
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
    const known = nodeClass.status?.capacityCorrections ?? [];
    if (known.some((one) => isDeepStrictEqual(one, learned))) return; // by another machine of the same burst
    const others = known.filter(
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

/** Undefined while anything of it is missing; what is no whole unit is rounded down, so that it really is there. */
function foundIn({ cpu = '0', memory = '0', pods = '0' }: ResourceList): Found | undefined {
  const found = {
    vcpus: Number(Quantity.parse(cpu).toMilli() / 1000n),
    memoryMiB: Number(Quantity.parse(memory).toInteger() / bytesPerMiB),
    instances: Number(Quantity.parse(pods).toInteger()),
  };
  return Object.values(found).every((amount) => amount > 0) ? found : undefined;
}
