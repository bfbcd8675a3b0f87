/** Whether a small problem has a cheaper answer than its plan: all answers are tried. */
import { solve } from '#scheduling/solve.ts';
import type { Plan, PlannedClaim, Problem, Solve } from '#scheduling/solver.ts';
import { worldOf } from '#scheduling/world.ts';

import { bought } from '../cluster/node-objects.ts';
import { costOf, placesOf, planOf, plannedIn, type Answer, type Place } from './answer.ts';
import { Reachable } from './reachable.ts';
import { Rules } from './rules.ts';

export interface Comparison {
  /** Pods that were planned. */
  readonly planned: number;
  /** What is cheaper, in words; undefined when nothing is. */
  readonly cheaper: string | undefined;
}

/**
 * An answer gives a place to the same Pods and is held to the rules of plans: see {@link Rules} and {@link Reachable}.
 *
 * @param problem  of few Pods and kinds: the time grows with their powers
 */
export function compare(problem: Problem, solver: Solve = solve): Comparison {
  const plan = solver(problem);
  const best = new Answers(problem, plan).cheapest();
  return { planned: plannedIn(plan).length, cheaper: best && tell(plan, planOf(best)) };
}

/** Prices are sums of tenths; half a cent is no difference. */
const cent = 0.005;

class Answers {
  readonly #places: readonly Place[];
  readonly #planned: readonly string[];
  readonly #rules: Rules;
  readonly #reachable: Reachable;
  #bound: number;
  #best: Answer | undefined;

  constructor(problem: Problem, plan: Plan) {
    this.#places = placesOf(problem);
    this.#planned = plannedIn(plan);
    this.#rules = new Rules(problem);
    this.#reachable = new Reachable(this.#rules, this.#places, queueOf(problem));
    this.#bound = costOf(plan) - cent;
  }

  cheapest(): Answer | undefined {
    this.#place(0, [], 0);
    return this.#best;
  }

  #place(at: number, answer: Answer, cost: number): void {
    if (cost >= this.#bound) return;
    const pod = this.#planned[at];
    if (pod === undefined) {
      this.#judge(answer, cost);
      return;
    }
    answer.forEach((one, index) => {
      const next = { ...one, pods: [...one.pods, pod] };
      if (this.#rules.suits(next)) this.#place(at + 1, answer.with(index, next), cost);
    });
    for (const place of this.#places) {
      const next = { place, pods: [pod] };
      const isMeant = !place.kind && answer.some((one) => one.place === place);
      if (!isMeant && this.#rules.suits(next)) {
        this.#place(at + 1, [...answer, next], cost + place.price);
      }
    }
  }

  #judge(answer: Answer, cost: number): void {
    if (!this.#rules.holds(answer) || !this.#reachable.has(answer)) return;
    this.#bound = cost - cent;
    this.#best = answer;
  }
}

/** Groups in the order in which the solver takes them. */
function queueOf(problem: Problem): string[] {
  return worldOf(problem).queue.flatMap(({ group }) => group.pods);
}

function tell(plan: Plan, better: Plan): string {
  return `planned ${textOf(plan)}; possible ${textOf(better)}`;
}

function textOf(plan: Plan): string {
  const machineText = (claim: PlannedClaim): string => {
    const { type, zone } = bought(claim);
    return `${claim.nodePool} ${type.name} ${zone} [${claim.pods.join(' ')}]`;
  };
  const nodes = [...plan.nominations].map(([pod, node]) => `${pod} on ${node}`);
  return `${costOf(plan).toFixed(2)}: ${[...plan.claims.map(machineText), ...nodes].join(', ')}`;
}
