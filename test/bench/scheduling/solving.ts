/**
 * Our side, in a process of its own: the controller's solver thread, which warms itself up at its start, solves one draw
 * some times and then the draw that is measured; what came of it is printed as JSON.
 *
 * Usage: node solving.ts <warm-up.json> <input.json> [judge]
 */
import { Slices } from '#controller/provisioning/slices.ts';
import { Thread, type Solved as InThread } from '#controller/provisioning/thread/thread.ts';
import type { Plan, Problem } from '#scheduling/solver.ts';
import { unbound } from '#scheduling/testing/judge.ts';

import { median } from '../webhook/statistics.ts';
import { readProblem } from './input.ts';

/** What one process says. Seconds are of a solve in the thread, from Pods as they were told to a plan. */
export interface Solved {
  /** The very first, of another draw. */
  readonly coldSeconds: number;
  /** The first of the input. */
  readonly seconds: number;
  /** The same with the way to the thread and back, for Pods of which it knew none. */
  readonly tripSeconds: number;
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

const never = new AbortController().signal;
const slices = new Slices();

const [warmUpFile = '', inputFile = '', judge] = process.argv.slice(2);
const input = readProblem(inputFile);
/** Solves of another draw before the input comes, in objects of their own: a thread that has been at work. */
const before = input.pods.length > 4000 ? 3 : 10;
const thread = new Thread(
  new URL(import.meta.resolve('#controller/provisioning/thread/worker.ts')),
);
await thread.warm;
const { milliseconds: cold } = await solve(readProblem(warmUpFile));
const readMiB = process.memoryUsage().rss / 2 ** 20;
for (let solves = 1; solves < before; solves++) await solve(readProblem(warmUpFile));

const began = performance.now();
const { plan, milliseconds } = await solve(input);
const tripSeconds = (performance.now() - began) / 1000;
const peakMiB = process.resourceUsage().maxRSS / 1024;
const later = [await solve(input), await solve(input), await solve(input)];

const solved: Solved = {
  coldSeconds: cold / 1000,
  seconds: milliseconds / 1000,
  tripSeconds,
  laterSeconds: median(later.map((one) => one.milliseconds)) / 1000,
  claims: plan.claims.length,
  onNodes: plan.nominations.size,
  failed: input.pods.length - placed(plan),
  price: plan.claims.reduce((sum, claim) => sum + cheapest(claim), 0),
  readMiB,
  peakMiB,
  ...(judge && { waiting: unbound(input, plan).length }),
};
console.log(JSON.stringify(solved));
await thread.end(new Error('all is said'));

function solve(problem: Problem): Promise<InThread> {
  return thread.solve(problem, slices, never);
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
