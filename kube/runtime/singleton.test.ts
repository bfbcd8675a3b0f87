import { expect, test } from 'vitest';

import { hours, minutes, seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { Metrics } from '../metrics.ts';
import { type Round, singleton } from './singleton.ts';
import { RecordingLogger } from './testing/fakes.ts';
import { forward } from './testing/time.ts';

/** A loop with an interval of ten seconds that is running, and when its rounds began, in seconds. */
function running(round: (signal: AbortSignal, clock: FakeClock) => ReturnType<Round>) {
  const clock = new FakeClock({ start: 0 });
  const log = new RecordingLogger();
  const metrics = new Metrics();
  const began: number[] = [];
  const loop = singleton(
    'test',
    seconds(10),
    async (signal) => {
      began.push(clock.now() / 1000);
      return round(signal, clock);
    },
    { clock, log, metrics, random: () => 0 },
  );
  const end = new AbortController();
  return { clock, log, metrics, began, end, ended: loop.run(end.signal) };
}

test('the next round comes an interval after the last one ended, or when that one says', async () => {
  const waits = [undefined, { requeueAfter: seconds(3) }, {}];
  const { clock, began } = running(async (_, time) => {
    await time.sleep(seconds(1));
    return waits.shift();
  });

  await forward(clock, seconds(30));

  expect(began).toEqual([0, 11, 15, 26]);
});

test('rounds that fail wait longer and longer, and are logged; a success ends the row', async () => {
  const fails = [true, true, true, false, true];
  const { clock, log, metrics, began } = running(async () => {
    if (fails.shift() === true) throw new Error('no');
  });

  await forward(clock, seconds(20));

  expect(began).toEqual([0, 1, 3, 7, 17, 18]);
  expect(log.lines[2]).toMatchObject({
    level: 'error',
    facts: { controller: 'test', failures: 3, retryInMs: 4000 },
  });
  expect(await metrics.text()).toContain(
    'controller_runtime_reconcile_errors_total{controller="test"} 4',
  );
});

test('no wait that a round asks for makes the loop hot', async () => {
  for (const requeueAfter of [0, -1, Number.NaN]) {
    const { clock, began } = running(async () => ({ requeueAfter }));

    await forward(clock, seconds(5));

    expect(began).toEqual([0, 1, 2, 3, 4, 5]);
  }
  const never = running(async () => ({ requeueAfter: Infinity }));
  await forward(never.clock, hours(23));
  expect(never.began).toEqual([0]);
});

test('it ends while it waits, and after the round that is in hand', async () => {
  const waiting = running(async () => {});
  await forward(waiting.clock, seconds(1));
  waiting.end.abort();
  await waiting.ended;

  const busy = running(async (signal, time) => {
    await time.sleep(minutes(5), signal);
  });
  await forward(busy.clock, seconds(1));
  busy.end.abort();
  await busy.ended;

  expect(busy.began).toEqual([0]);
  expect(busy.log.lines).toEqual([]);
});
