/**
 * `npm run bench:cache`: what the controller's cache of 20,000 Pods costs, beside client-node's informer. Each fills
 * from the same small TLS server that streams as kube-apiserver does, in a process of its own, in turn.
 *
 * `--api-server` fills both from a real kube-apiserver too, which takes minutes, since it has to hold 20,000 Pods first.
 * `--pods` and `--rounds` make it shorter while developing; the bars are for the defaults.
 */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { Run } from '#sandbox/processes/run.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

import { atMost, median, rounded } from '../webhook/statistics.ts';
import type { Measured } from './measure.ts';
import { Others } from './others.ts';
import { mixes, podOf, type Mix } from './pods.ts';
import { bundle, read, startServer, type Reader, type Target } from './processes.ts';
import { startApiServer } from './through-api-server.ts';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    'api-server': { type: 'boolean', default: false },
    pods: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '5' },
  },
});
const pods = Number(values.pods);
const rounds = Number(values.rounds);
/** Processors that may do something else in a round: a tenth of one. */
const mostBusy = 0.1;
/** So many times the rounds are tried where times are looked at; how much is held does not depend on who else is there. */
const mostTries = 4;
const timed: ReadonlySet<Mix> = new Set(['fifty-alike']);
const clock = new SystemClock();
const tell = (line: string): void => void process.stderr.write(`bench:cache: ${line}\n`);
const run = await Run.open('bench-cache');
try {
  const result = await bench();
  for (const bar of result.bars)
    tell(`${bar.ok ? 'ok    ' : 'MISSED'} ${bar.what}: ${bar.measured} ${bar.unit} (${bar.bar})`);
  if (!result.conclusive) tell('inconclusive: the computer was too busy for enough rounds');
  if (values.json) console.log(JSON.stringify(result));
  process.exitCode = result.ok ? 0 : 1;
} finally {
  await run.close();
}

interface Compared extends Readonly<Record<Reader, Measured>> {
  /** Of ours to the other's, round by round; the medians. */
  readonly ratios: { readonly ready: number; readonly stall: number };
  readonly rounds: { readonly counted: number; readonly of: number; readonly conclusive: boolean };
}

async function bench() {
  const dir = join(run.dir, 'bundle');
  await bundle(dir);
  const measured = new Map<Mix, Compared>();
  for (const mix of mixes) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other: they share the processors
    const target = await startServer(run, clock, { mix, pods });
    // oxlint-disable-next-line no-await-in-loop
    measured.set(mix, await both(mix, { ...target, dir }, timed.has(mix) ? mostTries : 1));
  }
  const real = values['api-server'] ? await behindApiServer(dir) : {};
  const [alike, different] = mixes.map((mix) => measured.get(mix)) as [Compared, Compared];
  const conclusive = alike.rounds.conclusive;
  const bars = [
    atMost('held for Pods of which fifty are alike', alike.ours.held, 40, 'MiB'),
    atMost('held for Pods that are all different', different.ours.held, 40, 'MiB'),
    atMost("longest stall, to that of client-node's informer", alike.ratios.stall, 0.25, '×'),
    atMost("time to ready, to that of client-node's informer", alike.ratios.ready, 0.25, '×'),
  ];
  return {
    name: 'bench:cache',
    ok: conclusive && bars.every((bar) => bar.ok),
    conclusive,
    bars,
    cores: availableParallelism(),
    node: process.version,
    peer: `@kubernetes/client-node ${versionOf('@kubernetes/client-node')}`,
    pods: { count: pods, bytes: Math.round(bytes('fifty-alike') / pods) },
    rounds,
    units: { ready: 'ms', stall: 'ms', held: 'MiB', processor: 'ms', peak: 'MiB' },
    ...Object.fromEntries(measured),
    ...real,
  };
}

/** What a real kube-apiserver needs itself is no part of any bar. */
async function behindApiServer(dir: string): Promise<{ 'api-server': Compared }> {
  const target = await startApiServer(run, clock, { count: pods, tell });
  const measured = await both('api-server', { ...target, dir });
  await target.stop();
  return { 'api-server': measured };
}

/**
 * In turn, so that whatever else the computer does weighs on both; but it weighs more on who uses two processors than on
 * who uses one, so a round in which it did much else says nothing.
 */
async function both(
  what: string,
  target: Target & { readonly dir: string },
  tries = 1,
): Promise<Compared> {
  const all: Round[] = [];
  const quiet = (): Round[] => all.filter((one) => one.busy <= mostBusy);
  while (quiet().length < rounds && all.length < tries * rounds) {
    all.push(await round(`${what}, round ${all.length + 1}`, target)); // oxlint-disable-line no-await-in-loop -- in turn
  }
  const conclusive = quiet().length >= rounds;
  const counted = conclusive ? quiet() : all;
  const ratio = (name: 'ready' | 'stall'): number =>
    rounded(median(counted.map((one) => one.ours[name] / one['client-node'][name])));
  return {
    ours: medians(counted.map(({ ours }) => ours)),
    'client-node': medians(counted.map((one) => one['client-node'])),
    ratios: { ready: ratio('ready'), stall: ratio('stall') },
    rounds: { counted: counted.length, of: all.length, conclusive },
  };
}

interface Round extends Readonly<Record<Reader, Measured>> {
  /** Processors that were busy with something else. */
  readonly busy: number;
}

async function round(what: string, target: Target & { readonly dir: string }): Promise<Round> {
  const others = new Others(run);
  const [ours, peer] = [await one('ours'), await one('client-node')];
  const busy = rounded(others.busy());
  if (busy > mostBusy) tell(`${what}: does not count, ${busy} processors did something else`);
  return { ours, 'client-node': peer, busy };

  async function one(reader: Reader): Promise<Measured> {
    const measured = await read(run, reader, target);
    if (measured.pods !== pods) throw new Error(`${reader} has ${measured.pods} Pods of ${pods}`);
    tell(`${what}, ${reader}: ${JSON.stringify(roundedAll(measured))}`);
    return measured;
  }
}

function medians(all: readonly Measured[]): Measured {
  const of = (what: keyof Measured): number => rounded(median(all.map((one) => one[what])));
  const [ready, stall, held] = [of('ready'), of('stall'), of('held')];
  return { ready, stall, held, processor: of('processor'), peak: of('peak'), pods: of('pods') };
}

function roundedAll(one: Measured): object {
  return Object.fromEntries(Object.entries(one).map(([name, value]) => [name, rounded(value)]));
}

function bytes(mix: Mix): number {
  let sum = 0;
  for (let index = 0; index < pods; index++) sum += JSON.stringify(podOf(index, mix)).length;
  return sum;
}

function versionOf(name: string): string {
  const file = fileURLToPath(
    new URL(`../../../node_modules/${name}/package.json`, import.meta.url),
  );
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
