import { stripVTControlCharacters, styleText } from 'node:util';

import type { Workload } from './pods.ts';
import type { ClaimStory } from './timeline.ts';

const barWidth = 20;
/** More machines than fit a screen are counted, not listed. */
const listed = 14;

export interface Scene {
  readonly title: string;
  readonly chapter: string;
  readonly workloads: readonly Workload[];
  readonly claims: readonly ClaimStory[];
}

/** The whole picture as lines; `colour` only where it carries meaning. */
export function draw({ title, chapter, workloads, claims }: Scene, colour: boolean): string[] {
  const alive = claims.filter(({ gone }) => !gone);
  const present = alive.length > 0 ? alive : claims; // at the end the whole tale is shown
  const shown = present.slice(-listed);
  const hidden = present.length - shown.length;
  return [
    ...title.split('\n'),
    '',
    `  ${chapter}`,
    '',
    ...workloads.map(
      (one, index) => `${index === 0 ? 'Pods    ' : '        '}  ${podLine(one, colour)}`,
    ),
    '',
    ...(hidden > 0 ? [`          … and ${hidden} more machines`] : []),
    ...table(shown.map((claim) => cellsOf(claim, colour))).map(
      (line, index) => `${index === 0 ? 'Machines' : '        '}  ${line}`,
    ),
  ];
}

function podLine({ name, wanted, running, waiting }: Workload, colour: boolean): string {
  const full = wanted === 0 ? 0 : Math.round((running / wanted) * barWidth);
  const bar = '█'.repeat(Math.min(full, barWidth)).padEnd(barWidth, '░');
  const wait = waiting > 0 ? `   ${waiting} waiting` : '';
  return `${name.padEnd(8)} ${paint(bar, 'green', colour && running === wanted)} ${running}/${wanted} running${wait}`;
}

function cellsOf(claim: ClaimStory, colour: boolean): string[] {
  const { name, instanceType, zone } = claim;
  return [name, instanceType, zone.slice(-2), stepsOf(claim), stateOf(claim, colour)];
}

function stateOf(claim: ClaimStory, colour: boolean): string {
  if (claim.gone) return '';
  if (claim.leaving) return paint('leaving', 'yellow', colour);
  const ready = claim.steps.some(({ step }) => step === 'ready');
  return ready ? paint('ready', 'green', colour) : claim.waiting;
}

/**
 * Each step with the time it took by itself, in seconds. Steps that were seen done at the same moment were written
 * together: the last one speaks for all.
 */
export function stepsOf({ steps }: ClaimStory): string {
  const moments = steps.filter(({ ms }, index) => steps[index + 1]?.ms !== ms);
  return moments
    .map(
      ({ step, ms }, index) =>
        `${step} ${((ms - (moments[index - 1]?.ms ?? 0)) / 1000).toFixed(1)}s`,
    )
    .join('  ');
}

function table(rows: readonly string[][]): string[] {
  const widths = [0, 1, 2, 3].map((column) =>
    Math.max(0, ...rows.map((row) => stripVTControlCharacters(row[column] ?? '').length)),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

function paint(text: string, style: 'green' | 'yellow', colour: boolean): string {
  return colour ? styleText(style, text, { validateStream: false }) : text;
}
