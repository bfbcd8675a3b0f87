import type { Leaks } from '#sandbox/world/leaks.ts';
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

/** Of the cases that can come, how many have to: some steps depend on what else goes on. */
const percentToStop = 95;

function barsOf(outcome: Outcome): Bar[] {
  const { cloud, variant, leaks, cases, stopped, double, once, unmet, notSeen } = outcome;
  const where = `${cloud}, ${variant}:`;
  const none = (what: string, measured: number): Bar => atMost(`${where} ${what}`, measured, 0);
  const able = cases - once.length;
  return [
    ...kinds.map(([kind, name]) => none(`left behind, ${name}`, leaks[kind])),
    atLeast(
      `${where} stopped of ${able} cases`,
      able === 0 ? 100 : (100 * stopped) / able,
      percentToStop,
      '%',
    ),
    // it would be strange if nobody ever asked what became of a call
    atLeast(`${where} stopped twice of ${double}`, double - once.length, double / 2),
    none(
      'cases that were not played',
      cases - stopped - once.length - unmet.length - notSeen.length,
    ),
    none('left behind, and collected later', outcome.collected),
    none('instances beyond one for each machine', Math.abs(outcome.launched - outcome.machines)),
    none('Pods with more than one NodeClaim', outcome.doubled.length),
    none('machines that did not come to the end of a phase', outcome.stuck.length),
    none('steps that did not come although they always had', outcome.unmet.length),
  ];
}

/** Kinds of what may be left, and what they are called. */
const kinds = Object.entries({
  instances: 'instances',
  volumes: 'volumes',
  addresses: 'addresses',
  records: 'records',
  texts: 'TXT',
  secrets: 'Secrets',
  releases: 'releases',
  nodes: 'Nodes',
  stuckPods: 'held Pods',
  reservations: 'reservations',
  processes: 'processes',
} satisfies Record<keyof Leaks, string>) as [keyof Leaks, string][];

/** What was left behind as a table, for people: a line for each variant on each cloud. */
export function tellLeft(outcomes: readonly Outcome[]): string[] {
  const names = kinds.map(([, name]) => name);
  const line = (what: string, cells: readonly string[]): string =>
    [what.padEnd(16), ...cells.map((cell, index) => cell.padStart(names[index]!.length))].join(
      '  ',
    );
  const rows = outcomes.map(({ cloud, variant, leaks }) =>
    line(
      `${cloud}, ${variant}`,
      kinds.map(([kind]) => String(leaks[kind])),
    ),
  );
  return [line('left behind', names), ...rows];
}

/** How many cases were stopped, for people, and which were not. */
export function tellStopped(outcomes: readonly Outcome[]): string[] {
  return outcomes.flatMap(({ cloud, variant, cases, stopped, once, unmet, notSeen }) => [
    `${cloud}, ${variant}: ${stopped} of ${cases} cases stopped, ${once.length} with nothing to stop at a second time`,
    ...[...unmet, ...notSeen].map((one) => `  not stopped: ${one}`),
  ]);
}

/** The numbered list, for people. */
export function tellSteps(cloud: Cloud, steps: readonly Step[]): string[] {
  const lines = steps.map(
    ({ step, phase, always }, index) =>
      `${String(index + 1).padStart(3)}  ${phase.padEnd(8)} ${step}${always ? '' : ' (not each time)'}`,
  );
  return [`${steps.length} steps on ${cloud}`, ...lines];
}
