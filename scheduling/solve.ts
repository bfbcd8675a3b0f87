import { Pass } from './pass.ts';
import { priceOfClaim } from './price.ts';
import type { Taste } from './queue.ts';
import type { Plan, Problem, Solve } from './solver.ts';
import { worldOf, type World } from './world.ts';

/**
 * Which nodes do these Pods need.
 *
 * Of domains that are equally good one is taken first, and what comes later may suit another better; and room that is
 * left for Pods to come may be left in vain. So a plan of few machines is made in each of these ways, and the best is
 * kept; of many machines one more is little.
 *
 * @throws InvalidQuantity when an object that the API server has taken holds a text that is no quantity
 */
export const solve: Solve = (problem) => {
  const { attempt, world } = attemptAt(problem, { turn: 0, isCareful: true });
  const { claims } = attempt.plan;
  const isSmall = claims.length <= fewClaims && problem.pods.length <= fewPods;
  if (!isSmall || claims.length === 0) return attempt.plan;
  const others = othersIn(world).map((taste) => attemptAt(problem, taste).attempt);
  return others.reduce((best, other) => (isBetter(other, best) ? other : best), attempt).plan;
};

/** More machines than these are planned once. */
const fewClaims = 6;
const fewPods = 60;
/** More domains than these are not all tried as the first. */
const mostTurns = 5;

interface Attempt {
  readonly plan: Plan;
  /** Wishes that Pods went without. */
  readonly dropped: number;
}

function attemptAt(problem: Problem, taste: Taste): { attempt: Attempt; world: World } {
  const world = worldOf(problem, taste);
  const pass = new Pass(world);
  const plan = pass.run();
  return { attempt: { plan, dropped: pass.dropped }, world };
}

/** None where no rule looks at domains. */
function othersIn({ topology }: World): Taste[] {
  const domains = Math.max(0, ...topology.keys.map(({ names }) => names.length));
  const turns = Array.from({ length: Math.min(mostTurns, domains) }, (_, turn) => turn);
  return turns.flatMap((turn) => [
    ...(turn > 0 ? [{ turn, isCareful: true }] : []),
    { turn, isCareful: false },
  ]);
}

/** The same prices in another order sum up to something else in the last digits. */
const least = 1e-9;

function isBetter(a: Attempt, b: Attempt): boolean {
  const [unplaced, before] = [a.plan.unschedulable.size, b.plan.unschedulable.size];
  if (unplaced !== before) return unplaced < before;
  if (a.dropped !== b.dropped) return a.dropped < b.dropped;
  return priceOf(a.plan) < priceOf(b.plan) - least;
}

/** USD per hour; Infinity when nobody knows. */
function priceOf({ claims }: Plan): number {
  return claims.reduce((sum, claim) => sum + (priceOfClaim(claim) ?? Infinity), 0);
}
