import { isTrue } from '#kube/conditions.ts';
import type { Plan, PlannedClaim } from '#scheduling/solver.ts';
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { annotations } from '#schemas/names.ts';

import type { Context } from '../../context.ts';
import { correctionsOf } from '../../nodeclass/corrections.ts';
import { sizeNames } from '../in-flight.ts';
import type { Supply } from '../pools-in-sight.ts';
import type { Slices } from '../slices.ts';
import { needsNearlyAll } from './tight.ts';

/** Machines of a size that nobody has seen that may be on their way when another one is for a Pod that fills it. */
const atOnce = 2;

/**
 * The capacity of a size is predicted until the first machine of it has shown what it offers. A Pod that needs nearly
 * all of it fits nowhere if it offers a tenth less, and twenty such Pods would cost twenty machines in vain. So two
 * machines go ahead, and the other Pods wait until one of these is initialized: then the prediction is right or
 * corrected.
 *
 * Sizes of one revision of a node class are predicted by one rule: where a machine of any size was as predicted, the others
 * are believed. Remembered is what claims showed; after a restart, what those show that there are.
 */
export class Trials {
  readonly #context: Context;
  readonly #seen = new Set<string>();

  constructor(context: Context) {
    this.#context = context;
  }

  /** Takes out of a plan what waits for the first machines of its size. */
  async sift(
    plan: Plan,
    supply: Supply,
    there: readonly Live<NodeClaim>[],
    slices: Slices,
  ): Promise<Plan> {
    if (plan.claims.length === 0) return plan;
    const coming = this.#coming(there, supply);
    const claims: PlannedClaim[] = [];
    const unschedulable = new Map(plan.unschedulable);
    await slices.each(plan.claims, (claim) => {
      const size = sizeOf(claim, supply);
      const before = coming.get(size.text) ?? 0;
      if (before >= atOnce && !this.#isKnown(size) && this.#isTight(claim)) {
        for (const pod of claim.pods) unschedulable.set(pod, [waiting(claim, before)]);
        return;
      }
      coming.set(size.text, before + 1);
      claims.push(claim);
    });
    return { ...plan, claims, unschedulable };
  }

  #isKnown({ text, nodeClass, revision }: Size): boolean {
    if (this.#seen.has(text)) return true;
    const { status } = this.#context.caches.nodeClasses.get(nodeClass) ?? {};
    const wasWrong = correctionsOf(status, revision).length > 0;
    return !wasWrong && this.#seen.has(`${nodeClass} ${revision}`);
  }

  /** How many machines of each size have not shown yet what they offer; those that have are remembered. */
  #coming(there: readonly Live<NodeClaim>[], { offers }: Supply): Map<string, number> {
    const coming = new Map<string, number>();
    for (const claim of there) {
      const { name } = claim.spec.nodeClassRef;
      const stamped = claim.metadata.annotations?.[annotations.revision];
      const { text, revision } = sizeFrom(
        name,
        stamped ?? offers.get(name)?.revision,
        sizeNames(claim)[0],
      );
      if (isTrue(claim.status?.conditions, 'Initialized')) {
        this.#seen.add(text).add(`${name} ${revision}`);
      } else if (!claim.metadata.deletionTimestamp) coming.set(text, (coming.get(text) ?? 0) + 1);
    }
    return coming;
  }

  #isTight({ pods, instanceTypes }: PlannedClaim): boolean {
    const { capacity = {} } = instanceTypes[0] ?? {};
    return pods.some((key) => {
      const pod = this.#context.caches.pods.get(key);
      return pod?.spec !== undefined && needsNearlyAll(pod.spec, capacity);
    });
  }
}

/** A size of a revision. */
interface Size {
  readonly text: string;
  readonly nodeClass: string;
  readonly revision: string;
}

/** The size that will be asked for first. */
function sizeOf({ nodePool, instanceTypes }: PlannedClaim, { pools, offers }: Supply): Size {
  const inSight = pools.find(({ pool }) => pool.metadata?.name === nodePool);
  const nodeClass = inSight?.pool.spec.template.spec.nodeClassRef.name ?? '';
  return sizeFrom(nodeClass, offers.get(nodeClass)?.revision, instanceTypes[0]?.name);
}

function sizeFrom(nodeClass: string, revision = '', instanceType = ''): Size {
  return { text: `${nodeClass} ${revision} ${instanceType}`, nodeClass, revision };
}

function waiting({ nodePool, instanceTypes }: PlannedClaim, coming: number) {
  const message =
    `needs nearly all of a ${instanceTypes[0]?.name}, and no machine of that size has shown yet what it offers: ` +
    `${coming} are on their way, then the others are made`;
  return { pool: nodePool, reason: 'Backoff', message, code: 'KPU349' } as const;
}
