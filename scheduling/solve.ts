import { Pass, type Placements } from './pass.ts';
import { priceOfClaim } from './price.ts';
import type { Taste } from './queue.ts';
import type { Problem, Solve } from './solver.ts';
import { worldOf, type World } from './world.ts';
import { zonesOf } from './zones.ts';

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
  const world = worldOf(problem, { turn: 0, isCareful: true });
  const zones = zonesOf(world); // the pass counts on
  const attempt = attemptIn(world);
  return { ...best(problem, world, attempt).placements, zones };
};

/** More machines than these are planned once. */
const fewClaims = 6;
const fewPods = 60;
/** More domains than these are not all tried as the first. */
const mostTurns = 5;

interface Attempt {
  readonly placements: Placements;
  /** Wishes that Pods went without. */
  readonly dropped: number;
}

function attemptIn(world: World): Attempt {
  const pass = new Pass(world);
  const placements = pass.run();
  return { placements, dropped: pass.dropped };
}

function best(problem: Problem, world: World, first: Attempt): Attempt {
  const machines = first.placements.claims.length;
  const pods = problem.pods.length + (problem.leaving?.length ?? 0);
  if (machines === 0 || machines > fewClaims || pods > fewPods) return first;
  const others = othersIn(world).map((taste) => attemptIn(worldOf(problem, taste)));
  return others.reduce((least, other) => (isBetter(other, least) ? other : least), first);
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
  const [unplaced, before] = [a.placements.unschedulable.size, b.placements.unschedulable.size];
  if (unplaced !== before) return unplaced < before;
  if (a.dropped !== b.dropped) return a.dropped < b.dropped;
  return priceOf(a.placements) < priceOf(b.placements) - least;
}

/** USD per hour; Infinity when nobody knows. */
function priceOf({ claims }: Placements): number {
  return claims.reduce((sum, claim) => sum + (priceOfClaim(claim) ?? Infinity), 0);
}
