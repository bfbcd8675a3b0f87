import { type Bar, atLeast, atMost } from '#test/bench/webhook/statistics.ts';

import type { Cloud } from './objects.ts';
import type { Step } from './steps.ts';
import type { Outcome } from './tally.ts';

/** The end of a run as data: bars first, then what was done on each cloud. */
export function reportOf(
  steps: ReadonlyMap<Cloud, readonly Step[]>,
  outcomes: readonly Outcome[],
  cores: number,
) {
  const bars = [
    ...[...steps].map(([cloud, all]) => atLeast(`steps on ${cloud}`, all.length, 40)),
    ...outcomes.flatMap(barsOf),
  ];
  return {
    name: 'test:crash',
    ok: bars.every(({ ok }) => ok),
    bars,
    cores,
    cases: outcomes.reduce((sum, { cases }) => sum + cases, 0),
    steps: Object.fromEntries(steps),
    outcomes,
  };
}

function barsOf(outcome: Outcome): Bar[] {
  const { cloud, variant, leaks } = outcome;
  const left = Object.values(leaks).reduce((sum: number, count: number) => sum + count, 0);
  const none = (what: string, measured: number): Bar =>
    atMost(`${cloud}, ${variant}: ${what}`, measured, 0);
  return [
    none('left behind', left),
    none('left behind, and collected later', outcome.collected),
    none('instances beyond one for each machine', Math.abs(outcome.launched - outcome.machines)),
    none('Pods with more than one NodeClaim', outcome.doubled.length),
    none('machines that did not come to the end of a phase', outcome.stuck.length),
    none('steps that did not come although they always had', outcome.unmet.length),
  ];
}

/** The numbered list, for people. */
export function tellSteps(cloud: Cloud, steps: readonly Step[]): string[] {
  const lines = steps.map(
    ({ step, phase, always }, index) =>
      `${String(index + 1).padStart(3)}  ${phase.padEnd(8)} ${step}${always ? '' : ' (not each time)'}`,
  );
  return [`${steps.length} steps on ${cloud}`, ...lines];
}
