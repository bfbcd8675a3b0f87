import { beforeEach, expect, test } from 'vitest';

import { seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { Shared } from './shared.ts';

const signal = new AbortController().signal;
let clock: FakeClock;
let shared: Shared<number>;

beforeEach(() => {
  clock = new FakeClock();
  shared = new Shared(clock, seconds(2));
});

test('callers at one time share an answer, and it lasts as long as it may', async () => {
  let answers = 0;
  const ask = async () => (answers += 1);

  expect(await Promise.all([shared.get('a', ask, signal), shared.get('a', ask, signal)])).toEqual([
    1, 1,
  ]);
  await clock.forward(seconds(1));
  expect(await shared.get('a', ask, signal)).toBe(1);
  await clock.forward(seconds(1));
  expect(await shared.get('a', ask, signal)).toBe(2);
});

test('an answer that takes longer than it may be kept is asked for once, and is old when it comes', async () => {
  let asked = 0;
  const ask = async () => {
    asked += 1;
    await clock.sleep(seconds(3), signal);
    return asked;
  };

  const first = shared.get('a', ask, signal);
  await clock.forward(seconds(2.5));
  const second = shared.get('a', ask, signal);
  await clock.forward(seconds(0.5));
  expect(await Promise.all([first, second])).toEqual([1, 1]);
  expect(asked).toBe(1);

  const third = shared.get('a', ask, signal);
  await clock.forward(seconds(3));
  expect(await third).toBe(2);
});

test('a failure is told to all who waited, and is not kept', async () => {
  const fail = async () => Promise.reject(new Error('down'));
  const waiting = [shared.get('a', fail, signal), shared.get('a', fail, signal)];

  await expect(Promise.allSettled(waiting)).resolves.toMatchObject([
    { status: 'rejected' },
    { status: 'rejected' },
  ]);
  await expect(shared.get('a', async () => 7, signal)).resolves.toBe(7);
});

test('who no longer waits does not end the call for the others', async () => {
  const answer = Promise.withResolvers<number>();
  const stop = new AbortController();
  const first = shared.get('a', async () => answer.promise, stop.signal);
  const second = shared.get('a', async () => answer.promise, signal);

  stop.abort(new Error('no longer wanted'));
  answer.resolve(5);

  await expect(first).rejects.toThrow('no longer wanted');
  await expect(second).resolves.toBe(5);
});
