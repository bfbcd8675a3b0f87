import { expect, test } from 'vitest';

import { minutes } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { removeEach } from './remove-each.ts';

interface Thing {
  readonly id: string;
  state: string;
}

/** What somebody stops turns from `stopping` to `stopped` after a minute; what is asked to go is gone after another. */
async function remove(things: Thing[], refuses: readonly string[] = []) {
  const clock = new FakeClock();
  const asked: string[] = [];
  for (const thing of things.filter(({ state }) => state === 'stopping')) {
    clock.after(minutes(1), () => {
      thing.state = 'stopped';
    });
  }
  const left = new Set(things);
  const work = removeEach(
    {
      look: async () => [...left],
      idOf: ({ id }) => id,
      stateOf: ({ state }) => state,
      isLeaving: ({ state }) => state === 'stopping' || state === 'leaving',
      end: async (thing) => {
        asked.push(`${thing.id} ${thing.state}`);
        if (refuses.includes(thing.id)) return 'it is protected.';
        clock.after(minutes(1), () => left.delete(thing));
        return undefined;
      },
      clock,
      within: minutes(3),
    },
    new AbortController().signal,
  );
  await clock.forward(minutes(4));
  return { failures: await work, asked };
}

test('each is asked once, and what was only stopped once it has stopped', async () => {
  const things = [
    { id: 'a', state: 'running' },
    { id: 'b', state: 'stopping' },
    { id: 'c', state: 'running' },
  ];
  expect(await remove(things)).toEqual({
    asked: ['a running', 'c running', 'b stopped'],
    failures: [],
  });
});

test('what is refused, then or later, and what never goes is named', async () => {
  const things = [
    { id: 'a', state: 'running' },
    { id: 'b', state: 'stopping' },
    { id: 'c', state: 'leaving' },
  ];
  expect(await remove(things, ['a', 'b'])).toEqual({
    asked: ['a running', 'b stopped'],
    failures: [
      { id: 'a', why: 'it is protected.' },
      { id: 'b', why: 'it is protected.' },
      { id: 'c', why: 'it is leaving after 3 minutes.' },
    ],
  });
});
