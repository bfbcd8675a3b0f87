/**
 * `npm run test:oracle`: plans of random problems before the real kube-scheduler, and small ones before all other answers.
 *
 * `--seed 7 --cases 1` repeats a case; `--cases`, `--small` and `--planes` make a run shorter, the bars are for the
 * defaults. A violation is printed with its seed, with what kube-scheduler said, and with the smallest case found.
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';

import { ScreenProgress } from '#sandbox/tools/progress.ts';
import { ensureTools } from '#sandbox/tools/tools.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';
import { atLeast, atMost } from '#test/bench/webhook/statistics.ts';

import { Court } from './court.ts';
import { judgeAll, judgeSmall, type Judged } from './suite.ts';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    seed: { type: 'string', default: '20261130' },
    cases: { type: 'string', default: '500' },
    small: { type: 'string', default: '1000' },
    planes: { type: 'string', default: '3' },
  },
});
/** Cases that a run must have. */
const wanted = 500;
const clock = new SystemClock();
const tell = (line: string): void => void process.stderr.write(`test:oracle: ${line}\n`);
const seedsFor = (count: string): number[] =>
  Array.from({ length: Number(count) }, (_, index) => Number(values.seed) + index);

const tools = await ensureTools(new ScreenProgress(process.stderr, clock));
const start = clock.now();
const court = await Court.open(tools, Number(values.planes), clock);
try {
  let done = 0;
  const all = await judgeAll(court, seedsFor(values.cases), (judged) => {
    done += 1;
    for (const one of judged.violations) tell(`seed ${judged.seed}: ${one}`);
    if (done % 25 === 0) tell(`${done} cases, ${Math.round((clock.now() - start) / 1000)} s`);
  });
  const small = judgeSmall(seedsFor(values.small));
  for (const one of small.cheaper) tell(one);
  const result = {
    ...reportOf(all, small),
    seconds: Math.round((clock.now() - start) / 1000),
    kubernetes: await court.version(),
  };
  for (const bar of result.bars)
    tell(`${bar.ok ? 'ok    ' : 'MISSED'} ${bar.what}: ${bar.measured} (${bar.bar})`);
  if (values.json) console.log(JSON.stringify(result));
  process.exitCode = result.ok ? 0 : 1;
} finally {
  await court.close();
}

function reportOf(all: readonly Judged[], small: ReturnType<typeof judgeSmall>) {
  const sum = (of: (one: Judged) => number): number =>
    all.reduce((total, one) => total + of(one), 0);
  const bars = [
    atLeast('random cases', all.length, wanted),
    atMost(
      'planned Pods that kube-scheduler, told of the plan, left or bound elsewhere for no rule of theirs',
      sum((one) => one.led.violations.length),
      0,
    ),
    atMost(
      `planned Pods that kube-scheduler, left alone, did not bind in two more passes, and runaways`,
      sum((one) => one.unled.violations.length),
      0,
    ),
    atLeast('small cases with every answer tried', small.compared, wanted),
    atMost('of these with a cheaper answer', small.cheaper.length, 0),
  ];
  return {
    name: 'test:oracle',
    ok: bars.every(({ ok }) => ok),
    bars,
    cases: all.length,
    violations: all.filter((one) => one.violations.length > 0).map(({ seed }) => seed),
    cores: availableParallelism(),
    seed: Number(values.seed),
    pods: sum(({ pods }) => pods),
    planned: { led: sum((one) => one.led.planned), unled: sum((one) => one.unled.planned) },
    nodes: { led: sum((one) => one.led.nodes), unled: sum((one) => one.unled.nodes) },
    passes: [0, 1, 2, 3].map((count) => all.filter((one) => one.unled.passes === count).length),
    held: sum((one) => one.led.held),
    displaced: sum((one) => one.led.displaced),
    cornered: sum((one) => one.unled.cornered),
    surplus: sum((one) => one.unled.surplus),
    nudges: court.nudges,
  };
}
