/**
 * `npm run bench:webhook`: what the webhook adds to Pods through a real API server, beside a do-nothing webhook in Go;
 * what it costs by itself, beside a bare node:https handler; what it holds after a million reviews.
 *
 * `--slices`, `--length`, `--cost-slices`, `--reviews` make it shorter while developing; the bars are for the defaults.
 * Runs on Linux, which tells processor time and memory of processes.
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';

import { ControlPlane } from '#sandbox/control-plane/control-plane.ts';
import { Run } from '#sandbox/processes/run.ts';
import { goOrThrow } from '#sandbox/tools/go.ts';
import { ScreenProgress } from '#sandbox/tools/progress.ts';
import { ensureTools } from '#sandbox/tools/tools.ts';
import { install } from '#sandbox/world/installation.ts';
import { milliseconds, seconds } from '#schemas/time/clock.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

import { build, resident, startBare, startGo, startOurs } from './processes.ts';
import { added, atLeast, atMost, rounded } from './statistics.ts';
import { measureCost, measureMemory } from './straight.ts';
import { installBoth, measureThrough, untilCalled } from './through-api-server.ts';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    slices: { type: 'string', default: '20' },
    length: { type: 'string', default: '4' },
    'cost-slices': { type: 'string', default: '40' },
    reviews: { type: 'string', default: '1000000' },
  },
});
const wanted = 20;
const clock = new SystemClock();
const tell = (line: string): void => void process.stderr.write(`bench:webhook: ${line}\n`);
const tools = await ensureTools(new ScreenProgress(process.stderr, clock));
const run = await Run.open('bench-webhook');
try {
  const result = await bench();
  for (const bar of result.bars)
    tell(`${bar.ok ? 'ok    ' : 'MISSED'} ${bar.what}: ${bar.measured} ${bar.unit} (${bar.bar})`);
  if (!result.conclusive) tell('inconclusive: the computer was too busy for enough valid slices');
  if (values.json) console.log(JSON.stringify(result));
  process.exitCode = result.ok ? 0 : 1;
} finally {
  await run.close();
}

async function bench() {
  await build();
  const plane = await ControlPlane.start({ tools, run, audit: false });
  await install(plane.admin, tools, { webhookPort: 9, processes: false });
  const ours = await startOurs(plane, tools, run, clock);
  tell(`memory: ${resident(ours).toFixed(1)} MiB when it is ready`);
  const go = await startGo(run, clock);
  await installBoth(plane, tools, { ours, go });
  await untilCalled(plane.admin, clock);
  const slices = Number(values.slices);
  const length = seconds(Number(values.length));
  await measureThrough(plane.admin, {
    clock,
    length: seconds(1),
    wanted: 1,
    tries: 2,
    tell: () => {},
  });
  const through = await measureThrough(plane.admin, {
    clock,
    length,
    wanted: slices,
    tries: 3 * slices,
    tell,
  });
  const bare = await startBare(tools, run, clock);
  const cost = await measureCost(
    { bare, ours },
    { slices: Number(values['cost-slices']), length: milliseconds(500), clock },
  );
  tell(
    `cost: ${Math.round(cost.ours)} reviews per processor second, bare ${Math.round(cost.bare)}`,
  );
  tell(`memory: ${resident(ours).toFixed(1)} MiB so far`);
  const memory = await measureMemory(ours, Number(values.reviews), tell);
  await plane.stop();

  const [p50, p99] = [added(through.valid, 0.5), added(through.valid, 0.99)];
  const ofOptedIn = (share: number): object => {
    const { go: doNothing, ours: own, ratio } = added(through.optedIn, share);
    return { go: rounded(doNothing), ours: rounded(own), ratio: rounded(ratio) };
  };
  const conclusive = through.valid.length >= wanted && p50.go > 0 && p99.go > 0;
  const held = memory.resident;
  const bars = [
    {
      ...atMost('p50 added, to that of a do-nothing Go webhook', p50.ratio, 1.2, '×'),
      ...(!conclusive && { ok: false }),
    },
    {
      ...atMost('p99 added, to that of a do-nothing Go webhook', p99.ratio, 1.5, '×'),
      ...(!conclusive && { ok: false }),
    },
    atMost('errors', through.errors + cost.failed + memory.failed, 0),
    atLeast('reviews per processor second, to a bare node:https handler', cost.ratio, 0.6, '×'),
    atMost(`resident after ${memory.reviews} reviews, at most`, Math.max(...held), 120, 'MiB'),
    atMost('growth over the second half of them', (held.at(-1) ?? 0) - (held[4] ?? 0), 6, 'MiB'),
  ];
  const ok = conclusive && memory.reviews >= 1_000_000 && bars.every((bar) => bar.ok);
  return {
    name: 'bench:webhook',
    ok,
    conclusive,
    bars,
    cores: availableParallelism(),
    node: process.version,
    peer: (await goOrThrow(['version'], { cwd: run.dir, env: process.env })).trim(),
    mix: 'half of the Pods opt in; ours is called for those, twice, and the Go webhook twice for every Pod',
    slices: { valid: through.valid.length, tried: through.tried, seconds: length / 1000 },
    milliseconds: {
      p50: { go: rounded(p50.go), ours: rounded(p50.ours) },
      p99: { go: rounded(p99.go), ours: rounded(p99.ours) },
      ofThoseThatOptIn: { p50: ofOptedIn(0.5), p99: ofOptedIn(0.99) },
    },
    reviewsPerProcessorSecond: { bare: Math.round(cost.bare), ours: Math.round(cost.ours) },
    residentMiB: held.map((one) => rounded(one)),
  };
}
