/**
 * `npm run fuzz:webhook`: a minute of bytes that no API server would send, straight at the admission server over TLS, in
 * this process. It ends with 1 unless every answer was a refusal of the caller (4xx) or a review, and a proper review is
 * answered after all that; a server that dies takes this program along.
 * `-- --seconds 600` for longer, `-- --seed 7` to repeat a run, `-- --json` for a line of JSON.
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';

import { silentLogger } from '#kube/log.ts';
import { Metrics } from '#kube/metrics.ts';
import { seconds } from '#schemas/time/clock.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';
import { hooks } from '#webhook/hooks.ts';
import { admissionServer } from '#webhook/server.ts';
import { fuzz } from '#webhook/testing/fuzz.ts';
import { Served } from '#webhook/testing/served.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    json: { type: 'boolean', default: false },
  },
});
const clock = new SystemClock();
const usual = hooks({ excludedNamespaces: ['kube-system'] });
const metrics = new Metrics();
const app = admissionServer({ log: silentLogger, metrics, clock, hooks: usual });
const served = await Served.start(app);
const end = clock.now() + seconds(Number(values.seconds));
console.error(`fuzz:webhook: ${values.seconds} s with seed ${values.seed}`);

const isOver = (): boolean => !(clock.now() < end); // at once, when the seconds are no number
const report = await fuzz(served, { seed: Number(values.seed), until: isOver });

for (const one of report.odd.slice(0, 5)) console.error(`odd answer:\n${one}\n`);
const bars = [
  {
    what: 'odd answers',
    measured: report.odd.length,
    unit: '',
    bar: 0,
    ok: report.odd.length === 0,
  },
  { what: 'calls', measured: report.calls, unit: '', bar: 100, ok: report.calls >= 100 },
  {
    what: 'proper reviews that are answered afterwards',
    measured: Number(report.lives),
    unit: '',
    bar: 1,
    ok: report.lives,
  },
];
const ok = bars.every((bar) => bar.ok);
const { calls, answers, odd, lives } = report;
const seed = Number(values.seed);
const result = { name: 'fuzz:webhook', ok, bars, answers, seed, cores: availableParallelism() };
const told = `${calls} calls (answers by status: ${JSON.stringify(answers)}), ${odd.length} odd answers; the server ${
  lives ? 'lives' : 'is dead'
}`;
console.log(values.json ? JSON.stringify(result) : told);
process.exitCode = ok ? 0 : 1;
await served[Symbol.asyncDispose]();
