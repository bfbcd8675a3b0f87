/**
 * `npm run test:crash`: the controller is killed at every step of a machine's life, before the step is carried out and
 * before its answer has come back; nothing may be left behind and nothing doubled. docs/concepts/machine-life.md.
 */
import { availableParallelism } from 'node:os';

import { ScreenProgress } from '#sandbox/tools/progress.ts';
import { ensureTools } from '#sandbox/tools/tools.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

import { type Asked, help, readArguments, UsageError } from './arguments.ts';
import { CrashWorld } from './crash-world.ts';
import type { Cloud } from './objects.ts';
import { reportOf, tellLeft, tellSteps, tellStopped } from './report.ts';
import { type Case, type Step, told } from './steps.ts';
import type { Outcome, Variant } from './tally.ts';
import { casesFor, VariantRun } from './variant.ts';

const tell = (line: string): void => void process.stderr.write(`test:crash: ${line}\n`);

try {
  const asked = readArguments(process.argv.slice(2));
  if (asked.help) console.log(help);
  else process.exitCode = await run(asked);
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  tell(error.message);
  process.exitCode = 2;
}

async function run(asked: Asked): Promise<number> {
  const tools = await ensureTools(new ScreenProgress(process.stderr, new SystemClock()));
  const world = await CrashWorld.start(tools);
  try {
    const steps = new Map<Cloud, Step[]>();
    const outcomes: Outcome[] = [];
    for (const cloud of asked.clouds) {
      const found = await recorded(world, cloud);
      steps.set(cloud, found);
      for (const [variant, cases] of wantedOf(asked, found))
        outcomes.push(await played(world, { cloud, variant }, cases));
    }
    if (outcomes.length === 0)
      throw new UsageError(`--only ${asked.only}: no step above has this in its name`);
    return tellAll(steps, outcomes, asked.json);
  } finally {
    await world.stop();
  }
}

/** The cases of each variant, where there are any. */
function wantedOf({ variants, only }: Asked, steps: readonly Step[]): [Variant, Case[]][] {
  const all = variants.map((variant): [Variant, Case[]] => {
    const cases = casesFor(variant, steps);
    return [variant, cases.filter((one) => told(one).includes(only))];
  });
  return all.filter(([, cases]) => cases.length > 0);
}

/** @returns the exit code */
function tellAll(
  steps: ReadonlyMap<Cloud, readonly Step[]>,
  outcomes: readonly Outcome[],
  json: boolean,
): number {
  const report = reportOf(steps, outcomes, availableParallelism());
  for (const line of [...tellStopped(outcomes), ...tellLeft(outcomes)]) tell(line);
  for (const bar of report.bars)
    tell(`${bar.ok ? 'ok    ' : 'MISSED'} ${bar.what}: ${bar.measured}${bar.unit} (${bar.bar})`);
  if (json) console.log(JSON.stringify(report));
  return report.ok ? 0 : 1;
}

async function recorded(world: CrashWorld, cloud: Cloud): Promise<Step[]> {
  const run = await VariantRun.start(world, { cloud, variant: 'restart', tell });
  try {
    const found = await run.record();
    for (const line of tellSteps(cloud, found)) tell(line);
    return found;
  } finally {
    await run.stop();
  }
}

async function played(
  world: CrashWorld,
  what: { readonly cloud: Cloud; readonly variant: Variant },
  cases: readonly Case[],
): Promise<Outcome> {
  const run = await VariantRun.start(world, { ...what, tell });
  try {
    return await run.play(cases);
  } finally {
    await run.stop();
  }
}
