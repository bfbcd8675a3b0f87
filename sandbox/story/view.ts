import { stripVTControlCharacters, styleText } from 'node:util';

import type { Workload } from './pods.ts';
import type { ClaimStory } from './timeline.ts';

const barWidth = 20;
/** More machines than fit a screen are counted, not listed. */
const listed = 14;
/** `Machines` and two spaces. */
const margin = 10;

export interface Scene {
  readonly title: string;
  readonly chapter: string;
  readonly workloads: readonly Workload[];
  readonly claims: readonly ClaimStory[];
}

/** The whole picture as lines of at most `width`; `colour` only where it carries meaning. */
export function draw(
  { title, chapter, workloads, claims }: Scene,
  { colour, width }: { colour: boolean; width: number },
): string[] {
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
    ...table(shown, { colour, width: width - margin }).map(
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

function stateOf(claim: ClaimStory, colour: boolean): string {
  if (claim.gone) return ''; // its last step says so
  if (claim.leaving) return paint('leaving', 'yellow', colour);
  const ready = claim.steps.some(({ step }) => step === 'ready');
  return ready ? paint('ready', 'green', colour) : claim.waiting;
}

/** Each step with the time it took by itself, in seconds: `created 0.4s  running 2.1s`. */
export function stepsOf(claim: ClaimStory): string {
  return momentsOf(claim).join('  ');
}

/** Steps that were seen done at the same moment were written together: the last one speaks for all. */
function momentsOf({ steps }: ClaimStory): string[] {
  const moments = steps.filter(({ ms }, index) => steps[index + 1]?.ms !== ms);
  return moments.map(
    ({ step, ms }, index) => `${step} ${((ms - (moments[index - 1]?.ms ?? 0)) / 1000).toFixed(1)}s`,
  );
}

/** Name, size, zone and state always; of the steps as many of the latest as there is room for. */
function table(
  claims: readonly ClaimStory[],
  { colour, width }: { colour: boolean; width: number },
): string[] {
  const rows = claims.map(({ name, instanceType, zone }) => [name, instanceType, zone.slice(-2)]);
  const widths = [0, 1, 2].map((column) =>
    Math.max(0, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows.map((row, index) => {
    const claim = claims[index] as ClaimStory;
    const who = row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ');
    const state = stateOf(claim, colour);
    const room = width - who.length - stripVTControlCharacters(state).length - 4;
    return [who, latest(momentsOf(claim), room), state].filter((part) => part !== '').join('  ');
  });
}

function latest(moments: readonly string[], room: number): string {
  const fitting = moments.map((_, index) => moments.slice(index).join('  '));
  return fitting.find((text) => text.length <= room) ?? '';
}

function paint(text: string, style: 'green' | 'yellow', colour: boolean): string {
  return colour ? styleText(style, text, { validateStream: false }) : text;
}
