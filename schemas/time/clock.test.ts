import { expect, test, vi } from 'vitest';

import { hours, seconds } from './clock.ts';
import { FakeClock } from './fake-clock.ts';
import { SystemClock } from './system-clock.ts';

test('a wait that is longer than a timer of Node can be does not end at once', () => {
  vi.useFakeTimers();
  const action = vi.fn<() => void>();
  new SystemClock().after(hours(720), action);
  vi.advanceTimersByTime(hours(719));
  expect(action).not.toHaveBeenCalled();
  vi.advanceTimersByTime(hours(1));
  expect(action).toHaveBeenCalledOnce();
  vi.useRealTimers();
});

test('an aborted sleep rejects with the reason and leaves no timer', async () => {
  vi.useFakeTimers();
  const end = new AbortController();
  const sleeping = new SystemClock().sleep(seconds(60), end.signal);
  end.abort(new Error('enough'));
  await expect(sleeping).rejects.toThrow('enough');
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

test('timestamps from before a jump stay in the past, those from after it are new', async () => {
  let real = Date.parse('2026-01-01T00:00:00Z');
  const clock = new FakeClock({ real: () => real });
  const before = clock.stamp();
  real += seconds(1);
  await clock.forward(hours(1));
  real += seconds(1);
  const after = clock.stamp();
  expect(clock.now() - clock.from(before)).toBe(hours(1) + seconds(2));
  expect(clock.now() - clock.from(after)).toBe(0);
});

test('whole seconds do not blur what was before a jump and what after it', async () => {
  const clock = new FakeClock({ real: Date.now });
  const before = clock.stamp();
  await clock.forward(hours(1));
  const after = clock.stamp();
  expect(clock.now() - clock.from(before)).toBeGreaterThanOrEqual(hours(1));
  expect(clock.now() - clock.from(after)).toBeLessThan(seconds(2));
});

test('timers run in order while the clock moves, also those that are set on the way', async () => {
  const clock = new FakeClock();
  const seen: string[] = [];
  clock.after(seconds(2), () => seen.push('second'));
  clock.after(seconds(1), () => {
    seen.push('first');
    clock.after(seconds(2), () => seen.push('third'));
  });
  await clock.forward(seconds(3));
  expect(seen).toEqual(['first', 'second', 'third']);
});
