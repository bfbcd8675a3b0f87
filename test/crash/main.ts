/**
 * `npm run test:crash`: the controller is killed at every step of a machine's life, before the step is carried out and
 * before its answer has come back; nothing may be left behind and nothing doubled. docs/concepts/machine-life.md.
 *
 * `--cloud aws|gcp` and `--variant restart|takeover|api-away|changed` make a run shorter, `--only "RunInstances"` plays
 * the cases whose steps have this in their names; `--json` gives all as data.
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';

import { ScreenProgress } from '#sandbox/tools/progress.ts';
import { ensureTools } from '#sandbox/tools/tools.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

import { chosen } from './chosen.ts';
import { CrashWorld } from './crash-world.ts';
import type { Cloud } from './objects.ts';
import { reportOf, tellSteps } from './report.ts';
import { type Step, told } from './steps.ts';
import { type Outcome, variants } from './tally.ts';
import { casesFor, VariantRun } from './variant.ts';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    cloud: { type: 'string' },
    variant: { type: 'string' },
    only: { type: 'string', default: '' },
  },
});
const clouds: readonly Cloud[] = chosen('cloud', ['aws', 'gcp'] as const, values.cloud);
const wanted = chosen('variant', variants, values.variant);
const tell = (line: string): void => void process.stderr.write(`test:crash: ${line}\n`);

const tools = await ensureTools(new ScreenProgress(process.stderr, new SystemClock()));
const world = await CrashWorld.start(tools);
try {
  const steps = new Map<Cloud, Step[]>();
  const outcomes: Outcome[] = [];
  for (const cloud of clouds) {
    steps.set(cloud, await recorded(cloud));
    for (const variant of wanted)
      outcomes.push(await played(cloud, variant, steps.get(cloud) ?? []));
  }
  const report = reportOf(steps, outcomes, availableParallelism());
  for (const bar of report.bars)
    tell(`${bar.ok ? 'ok    ' : 'MISSED'} ${bar.what}: ${bar.measured} (${bar.bar})`);
  if (values.json) console.log(JSON.stringify(report));
  process.exitCode = report.ok ? 0 : 1;
} finally {
  await world.stop();
}

async function recorded(cloud: Cloud): Promise<Step[]> {
  const run = await VariantRun.start(world, { cloud, variant: 'restart', tell });
  try {
    const found = await run.record();
    for (const line of tellSteps(cloud, found)) tell(line);
    return found;
  } finally {
    await run.stop();
  }
}

async function played(cloud: Cloud, variant: Outcome['variant'], of: Step[]): Promise<Outcome> {
  const run = await VariantRun.start(world, { cloud, variant, tell });
  try {
    return await run.play(casesFor(variant, of).filter((one) => told(one).includes(values.only)));
  } finally {
    await run.stop();
  }
}
