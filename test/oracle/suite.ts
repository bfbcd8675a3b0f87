/** Random cases, each by its seed, against clusters that take one case at a time. */
import fc from 'fast-check';

import type { Problem } from '#scheduling/solver.ts';
import { seconds, type Clock } from '#schemas/time/clock.ts';

import { compare } from './answers/compare.ts';
import { anyCase, smallCase } from './cases/cluster.ts';
import type { Cluster } from './cluster/cluster.ts';
import type { Court } from './court.ts';
import { led, unled, type Outcome } from './stories.ts';

/** What a seed came to. */
export interface Judged {
  readonly seed: number;
  /** Each as a person reads it: what should not have been, with the case that shows it, shrunk. None: all is well. */
  readonly violations: readonly string[];
  readonly pods: number;
  readonly led: Outcome;
  readonly unled: Outcome;
}

/** Large enough for every rule to have something to decide, small enough for two seconds. */
const usual = anyCase({ groups: 5, sites: 4, pools: 3 });

/** How long a case that shows a violation is made smaller. */
const shrinking = seconds(40);

let cases = 0;

/** Runs one case led and left alone. */
export async function judge(cluster: Cluster, seed: number, clock: Clock): Promise<Judged> {
  let first: Judged | undefined;
  const end = clock.now() + shrinking;
  const property = fc.asyncProperty(usual, async (problem) => {
    if (first && clock.now() > end) return; // a smaller one that is not looked at is none
    const judged = await judgeOne(cluster, problem, seed);
    first ??= judged;
    if (judged.violations.length > 0) throw new Error(judged.violations.join('\n'));
  });
  const details = await fc.check(property, { seed, numRuns: 1, unbiased: true });
  if (!first) throw new Error(`seed ${seed} came to nothing`, { cause: details.errorInstance });
  if (!details.failed) return first;
  const [smallest] = details.counterexample ?? [];
  const shown = `${String(details.errorInstance)}\nafter ${details.numShrinks} shrinks: ${JSON.stringify(smallest)}`;
  return { ...first, violations: [...first.violations, shown] };
}

async function judgeOne(cluster: Cluster, problem: Problem, seed: number): Promise<Judged> {
  const told = await led(cluster, problem, nextName());
  const alone = await unled(cluster, problem, nextName());
  const violations = [...told.violations, ...alone.violations];
  return { seed, pods: problem.pods.length, led: told, unled: alone, violations };
}

function nextName(): string {
  cases += 1;
  return `c${cases}`;
}

/** Shares seeds out among the clusters of a court. @param tell  what came of each */
export async function judgeAll(
  { clusters, clock }: Pick<Court, 'clusters' | 'clock'>,
  seeds: readonly number[],
  tell: (judged: Judged) => void,
): Promise<Judged[]> {
  const left = [...seeds];
  const all: Judged[] = [];
  const work = async (cluster: Cluster): Promise<void> => {
    for (let seed = left.shift(); seed !== undefined; seed = left.shift()) {
      // oxlint-disable-next-line no-await-in-loop -- a cluster takes one case at a time
      const judged = await judge(cluster, seed, clock);
      all.push(judged);
      tell(judged);
    }
  };
  await Promise.all(clusters.map(work));
  return all;
}

export interface Small {
  /** Problems of which something was planned. */
  readonly compared: number;
  /** `seed: what is cheaper` */
  readonly cheaper: readonly string[];
}

/** All answers of small problems are tried. */
export function judgeSmall(seeds: readonly number[]): Small {
  const found = seeds.flatMap((seed) =>
    fc.sample(smallCase, { seed, numRuns: 1 }).map((problem) => ({ seed, ...compare(problem) })),
  );
  return {
    compared: found.filter(({ planned }) => planned > 0).length,
    cheaper: found.flatMap(({ seed, cheaper }) => (cheaper ? [`seed ${seed}: ${cheaper}`] : [])),
  };
}
