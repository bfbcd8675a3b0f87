/**
 * Our side, in a process of its own: solves one draw to warm up, then the draw that is measured, and prints what came
 * of it as JSON.
 *
 * Usage: node solving.ts <warm-up.json> <input.json> [judge]
 */
import { solve } from '#scheduling/solve.ts';
import type { Plan, Problem } from '#scheduling/solver.ts';
import { unbound } from '#scheduling/testing/judge.ts';

import { median } from '../webhook/statistics.ts';
import { readProblem } from './input.ts';

/** What one process says. Seconds are of all that `solve` does, from Pod objects to a plan. */
export interface Solved {
  /** The very first solve of the process, of another draw. */
  readonly coldSeconds: number;
  /** The first solve of the input. */
  readonly seconds: number;
  /** Solving the input again; the median of three. */
  readonly laterSeconds: number;
  readonly claims: number;
  readonly onNodes: number;
  readonly failed: number;
  /** USD per hour, each claim as its cheapest machine. */
  readonly price: number;
  /** Resident, when both draws had been read, and the most until the input was solved. */
  readonly readMiB: number;
  readonly peakMiB: number;
  /** Pods that would wait for ever if kube-scheduler bound in the plan's order; absent when the judge was not asked. */
  readonly waiting?: number;
}

const [warmUpFile = '', inputFile = '', judge] = process.argv.slice(2);
const [warmUp, input] = [readProblem(warmUpFile), readProblem(inputFile)];
const readMiB = process.memoryUsage().rss / 2 ** 20;

const { seconds: coldSeconds } = timed(warmUp);
const { seconds, plan } = timed(input);
const peakMiB = process.resourceUsage().maxRSS / 1024;
const laterSeconds = median(Array.from({ length: 3 }, () => timed(input).seconds));

const solved: Solved = {
  coldSeconds,
  seconds,
  laterSeconds,
  claims: plan.claims.length,
  onNodes: plan.nominations.size,
  failed: input.pods.length - placed(plan),
  price: plan.claims.reduce((sum, claim) => sum + cheapest(claim), 0),
  readMiB,
  peakMiB,
  ...(judge && { waiting: unbound(input, plan).length }),
};
console.log(JSON.stringify(solved));

function timed(problem: Problem): { seconds: number; plan: Plan } {
  const began = performance.now();
  const plan = solve(problem);
  return { seconds: (performance.now() - began) / 1000, plan };
}

/** Each Pod counts once, so that one that is planned twice is missed elsewhere. */
function placed({ claims, nominations }: Plan): number {
  return new Set([...nominations.keys(), ...claims.flatMap(({ pods }) => pods)]).size;
}

/** Sizes cost the same in all zones. */
function cheapest({ instanceTypes }: Plan['claims'][number]): number {
  const prices = instanceTypes.flatMap(({ offerings }) => offerings.map(({ price }) => price));
  return Math.min(...prices.map((price = Infinity) => price));
}
