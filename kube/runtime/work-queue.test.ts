import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { hours, milliseconds, minutes, seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { Metrics } from '../metrics.ts';
import { WorkQueue } from './work-queue.ts';

function queueOn(clock = new FakeClock(), metrics?: Metrics) {
  return { clock, queue: new WorkQueue({ name: 'test', clock, metrics, random: () => 0 }) };
}

describe('one key, one hand', () => {
  test('a key that waits is handed out once, however often it was added', async () => {
    const { queue } = queueOn();
    queue.add('a');
    queue.add('b');
    queue.add('a');

    expect([await queue.next(), await queue.next()]).toEqual(['a', 'b']);
    expect(queue.depth).toBe(0);
  });

  test('a key that is added while in hand comes back when it is given back', async () => {
    const { queue } = queueOn();
    queue.add('a');
    await queue.next();
    queue.add('a');
    queue.add('a');
    expect(queue.depth).toBe(0);

    queue.done('a');

    expect(await queue.next()).toBe('a');
    queue.done('a');
    expect(queue.depth).toBe(0);
  });

  test('a taker waits for the next key', async () => {
    const { queue } = queueOn();
    const taken = queue.next();
    queue.add('a');

    expect(await taken).toBe('a');
  });
});

describe('later', () => {
  test('of several delays the one that ends first counts, and it counts once', async () => {
    const { queue, clock } = queueOn();
    queue.addAfter('a', seconds(30));
    queue.addAfter('a', seconds(10));
    queue.addAfter('a', seconds(20));

    await clock.forward(seconds(9));
    expect(queue.depth).toBe(0);
    await clock.forward(seconds(1));
    expect(await queue.next()).toBe('a');
    queue.done('a');
    await clock.forward(minutes(5));
    expect(queue.depth).toBe(0);
  });

  test('a delay longer than a timer can hold ends early, not at once', async () => {
    const { queue, clock } = queueOn();
    queue.addAfter('expires in 30 days', hours(720));

    await clock.forward(hours(23));
    expect(queue.depth).toBe(0);
    await clock.forward(hours(1));
    expect(queue.depth).toBe(1);
  });

  test('failures in a row wait longer and longer, until one success', async () => {
    const { queue } = queueOn();
    const waits = [queue.retry('a'), queue.retry('a'), queue.retry('a')];
    queue.forget('a');

    expect(waits).toEqual([1, 2, 4].map(seconds));
    expect(queue.retry('a')).toBe(seconds(1));
    expect(queue.retry('b', seconds(45))).toBe(seconds(45)); // the server asked for it
  });
});

describe('the end', () => {
  test('takers leave, timers are taken back, and nothing is handed out or added any more', async () => {
    const { queue, clock } = queueOn();
    const taker = queue.next();
    queue.addAfter('later', seconds(1));

    queue.stop();
    queue.add('a');
    queue.addAfter('b', seconds(1));

    expect(await taker).toBeUndefined();
    expect(await queue.next()).toBeUndefined();
    expect(clock.waiting).toBe(0);
  });

  test('a key in hand can still be given back, and does not come again', async () => {
    const { queue } = queueOn();
    queue.add('a');
    await queue.next();
    queue.add('a');
    queue.stop();
    queue.done('a');

    expect(queue.depth).toBe(0);
    expect(queue.inHandFor).toEqual([]);
  });
});

test('its numbers are those that dashboards for controller-runtime read', async () => {
  const metrics = new Metrics();
  const { queue, clock } = queueOn(new FakeClock(), metrics);
  queue.add('slow');
  queue.add('waiting');
  await clock.forward(seconds(2));
  await queue.next();
  queue.retry('failed');
  await clock.forward(milliseconds(500));

  const text = await metrics.text();
  expect(text).toContain('workqueue_depth{name="test"} 1');
  expect(text).toContain('workqueue_adds_total{name="test"} 2');
  expect(text).toContain('workqueue_retries_total{name="test"} 1');
  expect(text).toContain('workqueue_queue_duration_seconds_sum{name="test"} 2');
  expect(text).toContain('workqueue_unfinished_work_seconds{name="test"} 0.5');
  expect(text).toContain('workqueue_longest_running_processor_seconds{name="test"} 0.5');

  queue.done('slow');
  expect(await metrics.text()).toContain('workqueue_work_duration_seconds_sum{name="test"} 0.5');
});

/** Somebody adds a key at some time, at once or with a delay; work on it takes a while and may fail. */
const adding = fc.record({
  key: fc.constantFrom('a', 'b', 'c'),
  at: fc.nat({ max: 400 }),
  delay: fc.constantFrom(0, 0, 5, 50),
  takes: fc.nat({ max: 60 }),
  fails: fc.boolean(),
});

test('whatever happens, no key is in two hands and every key is worked on after it was last added', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(adding, { minLength: 1, maxLength: 12 }),
      fc.integer({ min: 1, max: 3 }),
      async (addings, workers) => {
        const { queue, clock } = queueOn();
        const inHand = new Set<string>();
        const doubled: string[] = [];
        const lastAdded = new Map<string, number>();
        const lastBegun = new Map<string, number>();
        const script = addings.map(({ takes, fails }) => ({ takes, fails }));
        let step = 0; // orders what happens at one instant

        const work = async (): Promise<void> => {
          for (let key = await queue.next(); key !== undefined; key = await queue.next()) {
            if (inHand.has(key)) doubled.push(key);
            inHand.add(key);
            lastBegun.set(key, step++);
            const { takes, fails } = script.shift() ?? { takes: 1, fails: false };
            await clock.sleep(takes);
            inHand.delete(key);
            if (fails) queue.retry(key);
            else queue.forget(key);
            queue.done(key);
          }
        };
        const working = Array.from({ length: workers }, work);
        for (const { key, at, delay } of addings) {
          clock.after(at, () => {
            lastAdded.set(key, step++);
            queue.addAfter(key, delay);
          });
        }
        await clock.forward(minutes(10));
        queue.stop();
        await Promise.all(working);

        expect(doubled).toEqual([]);
        for (const [key, added] of lastAdded) expect(lastBegun.get(key)).toBeGreaterThan(added);
      },
    ),
    { numRuns: 60 },
  );
});
