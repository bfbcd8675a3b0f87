import type { Problem } from '#scheduling/solver.ts';
import { unbound } from '#scheduling/testing/judge.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import { addResources, fits } from '#schemas/quantity/resources.ts';

import { kindsOf, promisedNode } from '../cluster/node-objects.ts';
import { orders, planOf, type Answer, type Filled } from './answer.ts';

/** What every answer to a problem is held to. */
export class Rules {
  readonly #problem: Problem;
  readonly #withoutRules: Problem;
  readonly #suiting = new Map<string, boolean>();

  constructor(problem: Problem) {
    this.#problem = withEmpty(problem);
    this.#withoutRules = { ...problem, pods: problem.pods.map(withoutRules), bound: [] };
  }

  /**
   * Whether limits are kept, and by kube-scheduler's judgement in plain words all Pods can be bound, in whatever order they
   * are tried.
   */
  holds(answer: Answer): boolean {
    if (!this.#isWithinLimits(answer)) return false;
    const plan = planOf(answer);
    const pods = answer.flatMap((one) => one.pods);
    return orders(pods).every((order) => unbound(this.#problem, plan, () => order).length === 0);
  }

  /** Whether a place would take its Pods if they had no rules about others. */
  suits({ place, pods }: Filled): boolean {
    const id = `${place.node} ${JSON.stringify(place.kind?.requirements)} ${place.kind?.nodePool} ${place.kind?.instanceTypes[0]?.name} ${pods.join()}`;
    const known =
      this.#suiting.get(id) ?? unbound(this.#withoutRules, planOf([{ place, pods }])).length === 0;
    this.#suiting.set(id, known);
    return known;
  }

  #isWithinLimits(answer: Answer): boolean {
    return this.#problem.pools.every(({ pool, remaining }) => {
      const own = answer.filter(({ place }) => place.kind?.nodePool === pool.metadata?.name);
      const taken = addResources(
        ...own.map(({ place }) => ({ ...place.kind?.instanceTypes[0]?.capacity, nodes: '1' })),
      );
      const limited = Object.keys(remaining).map((name) => [name, taken[name] ?? '0']);
      return fits(Object.fromEntries(limited), remaining);
    });
  }
}

/**
 * As upstream has it, Pods spread over all domains that there could be: so one Node of each kind stands there, empty, and
 * takes none.
 */
function withEmpty(problem: Problem): Problem {
  const kinds = problem.pools.flatMap(kindsOf);
  const empty = kinds.map((kind, index) => promisedNode(`empty-${index}`, kind, problem.pools));
  return { ...problem, closed: [...(problem.closed ?? []), ...empty] };
}

function withoutRules(pod: Pod): Pod {
  const { topologySpreadConstraints: _, affinity, ...spec } = pod.spec ?? { containers: [] };
  const nodeAffinity = affinity?.nodeAffinity;
  return { ...pod, spec: { ...spec, ...(nodeAffinity && { affinity: { nodeAffinity } }) } };
}
