/**
 * `npm run bench:scheduling`: Karpenter's own benchmark and our solver on the same Pods, sizes and nodes: Pods/s, nodes
 * and hourly cost of each, in turn, so that whatever else the computer does weighs on both.
 *
 * Karpenter's time is that of its Solve alone, in a fresh process after a solve of 100 other Pods, or what its unchanged
 * benchmark prints if that is better: what prepares it is not counted, and being compiled it needs no warming up. Ours is
 * that of a solve in the controller's own solver thread, from Pods as they were told to a plan: in a fresh process, the
 * first solve of the input after ten of another draw of the same case (three of more than 4,000 Pods); the median over
 * processes, where one of them came close to its bar. Pools and sizes are known by then, as upstream's are. `cold` is the
 * very first solve of the thread, `later` what it comes to when the same is solved again, `trip` the measured solve with
 * all Pods on their way to the thread, and the plan on its way back.
 *
 * `--all` asks Karpenter for 5,000 Pods and more too, which takes about a quarter of an hour; else what was once measured
 * is told beside, and no bar is taken from it. Where it takes very long it is stopped, and its speed is at most what it
 * has not done by then. `--processes` makes it shorter while developing; the bars are for the
 * defaults. Karpenter's benchmark is built once, which takes 4 minutes.
 */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { Run } from '#sandbox/processes/run.ts';
import { KARPENTER } from '#sandbox/tools/karpenter-crds.ts';
import { ScreenProgress } from '#sandbox/tools/progress.ts';
import { moduleFolder, pinnedVersion } from '#sandbox/tools/sets.ts';
import { seconds, type Duration } from '#schemas/time/clock.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

import { barsOf, type Peer, type Row } from './bars.ts';
import { cases, type Case } from './cases.ts';
import { ownFigure, solvePriced, writeInput } from './karpenter.ts';
import { solveOurs } from './ours.ts';
import { ensureProgram, toolchain } from './program.ts';
import { recordedOf } from './recorded.ts';
import type { Solved } from './solving.ts';
import { detailsOf, lineOf } from './telling.ts';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    all: { type: 'boolean', default: false },
    processes: { type: 'string', default: '3' },
  },
});
/** Upstream's own draw, and another. */
const seeds = { input: 42, warmUp: 7 };
/** The judge counts all Pods anew for each, which takes too long beyond this. */
const judgedPods = 1000;
const clock = new SystemClock();
const tell = (line: string): void => void process.stderr.write(`bench:scheduling: ${line}\n`);
const program = await ensureProgram(new ScreenProgress(process.stderr, clock), clock);
const run = await Run.open('bench-scheduling');
try {
  const result = await bench();
  for (const bar of result.bars)
    tell(`${bar.ok ? 'ok    ' : 'MISSED'} ${bar.what}: ${bar.measured} ${bar.unit} (${bar.bar})`);
  if (values.json) console.log(JSON.stringify(result));
  process.exitCode = result.ok ? 0 : 1;
} finally {
  await run.close();
}

async function bench() {
  const rows: Row[] = [];
  for (const asked of cases) {
    const row = await measure(asked); // oxlint-disable-line no-await-in-loop -- one after the other
    rows.push(row);
    tell(lineOf(row));
  }
  const bars = barsOf(rows);
  return {
    name: 'bench:scheduling',
    ok: bars.every((bar) => bar.ok),
    bars,
    cores: availableParallelism(),
    node: process.version,
    peer: `${KARPENTER} ${await pinnedVersion(moduleFolder('karpenter'), KARPENTER)}, ${toolchain}`,
    notAsked: rows.filter(({ peer }) => !peer).map(({ asked }) => asked.name),
    cases: rows.map(detailsOf),
  };
}

async function measure(asked: Case): Promise<Row> {
  const { Kind, Pods, Nodes } = asked;
  const draws = { warmUp: join(run.dir, 'warm-up.json'), input: join(run.dir, 'input.json') };
  const task = { Kind, Pods, Nodes, Seed: seeds.input, Input: draws.input };
  await writeInput(program, { ...task, Seed: seeds.warmUp, Input: draws.warmUp });
  const began = clock.now();
  await writeInput(program, task);
  const preparing = clock.now() - began;
  const judged = Pods <= judgedPods;
  const one = await solveOurs(draws, 1, judged);
  const isAsked = asked.peer !== 'never' && (asked.peer !== 'all' || values.all);
  const peer = isAsked ? await peerOf(asked, task, { ours: one, preparing }) : undefined;
  const row = { asked, ours: one, ...(peer && { peer }) };
  if (!isClose(row)) return row;
  return { ...row, ours: await solveOurs(draws, Number(values.processes), judged) };
}

/** Whether one process is too few to say that a bar is met. */
function isClose({ asked, ours, peer }: Row): boolean {
  if (!peer || asked.bar === undefined) return false;
  return asked.Pods / ours.seconds / peer.podsPerSecond < asked.bar * 1.5;
}

async function peerOf(
  asked: Case,
  task: Parameters<typeof solvePriced>[1],
  { ours, preparing }: { readonly ours: Solved; readonly preparing: Duration },
): Promise<Peer> {
  const { own, Pods, bar = 1 } = asked;
  const enough = 10 * bar * ours.seconds;
  const isStopped = asked.peer === 'stopped' && !values.all;
  const priced = await solvePriced(
    program,
    task,
    isStopped ? within(enough, preparing) : undefined,
  );
  if (!priced) return stoppedAt(asked, enough);
  const printed = own === undefined ? undefined : await ownFigure(program, own);
  const podsPerSecond = Math.max(Pods / priced.Seconds, printed ?? 0);
  return { ...priced, podsPerSecond, ...(printed !== undefined && { printed }) };
}

/** So many seconds of Solve; the way there takes what it takes to write the input, and the solve before it some more. */
function within(ofSolve: number, preparing: Duration): Duration {
  return seconds(ofSolve) + 2 * preparing + seconds(5);
}

/** The most that it can have done, in seconds of Solve. */
function stoppedAt(asked: Case, Seconds: number): Peer {
  const recorded = recordedOf(asked);
  if (!recorded) throw new Error(`${asked.name}: nothing is recorded of what Karpenter answers`);
  const { claims: Claims, price: Price } = recorded;
  return { Seconds, Claims, Price, podsPerSecond: asked.Pods / Seconds, stopped: true };
}
