import { beforeEach, expect, test } from 'vitest';

import { seconds } from '#schemas/time/clock.ts';

import { Guests, type GuestWish } from './guests.ts';

let now = 0;
let guests: Guests;
beforeEach(() => {
  now = 0;
  guests = new Guests({ vcpus: 8, memoryMiB: 4096, volumeStorageMiB: 0, instances: 4 }, () => now);
});

const wish = (name: string, more: Partial<GuestWish> = {}): GuestWish => ({
  name,
  image: 'nginx',
  vcpus: 1,
  memoryMiB: 3072,
  tags: [],
  ...more,
});
const states = (): Record<string, string> =>
  Object.fromEntries(
    guests.all.map(({ name, state, stopReason = '' }) => [name, state + stopReason]),
  );

test('a guest in standby holds no live memory, and another may have it', () => {
  guests.start(wish('idle', { idleAfter: seconds(1) }));
  expect(guests.start(wish('next'))).toBeUndefined();
  now = seconds(1);
  expect(guests.used).toEqual({ instances: 1, vcpus: 0, memoryMiB: 0 });
  expect(guests.start(wish('next'))).toBeDefined();
  expect(states()).toEqual({ idle: 'standby', next: 'running' });
});

test('it goes on when it is asked and there is room, and stays awake', () => {
  guests.start(wish('idle', { idleAfter: seconds(1), requestAfter: seconds(5) }));
  now = seconds(4);
  expect(states()).toEqual({ idle: 'standby' });
  now = seconds(60);
  expect(states()).toEqual({ idle: 'running' });
});

test('it is stopped when it is asked and there is none', () => {
  guests.start(wish('idle', { idleAfter: seconds(1), requestAfter: seconds(5) }));
  now = seconds(2);
  guests.start(wish('next'));
  now = seconds(5);
  expect(states()).toEqual({ idle: 'stoppedquota', next: 'running' });
  expect(guests.used).toEqual({ instances: 2, vcpus: 1, memoryMiB: 3072 });
});

test('what fell due is done in its order, however late anybody looks', () => {
  guests.start(wish('one', { idleAfter: seconds(1), requestAfter: seconds(5) }));
  now = seconds(2);
  guests.start(wish('two', { idleAfter: seconds(10) }));
  now = seconds(60); // two slept from the 12th second on, too late for one
  expect(states()).toEqual({ one: 'stoppedquota', two: 'standby' });
});

test('a guest that is asked before it is idle never sleeps', () => {
  guests.start(wish('busy', { idleAfter: seconds(5), requestAfter: seconds(1) }));
  now = seconds(60);
  expect(states()).toEqual({ busy: 'running' });
});
