import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { minutes } from '#schemas/time/clock.ts';

import { type Difference, knownOfMoto } from './known-differences.ts';
import { motoPlace, ourPlace, type Place } from './places.ts';
import { stories, type Story } from './stories.ts';

const told = Object.entries(stories);

describe.each([
  ['our endpoint', ourPlace, {}],
  ['moto', motoPlace, knownOfMoto],
] as const)('AWS as %s has it', (_, open, known: Readonly<Record<string, Difference>>) => {
  let place: Place;
  // moto is installed once, which takes a minute
  beforeAll(async () => {
    place = await open();
  }, minutes(5));
  afterAll(async () => place?.close());

  test.each(told)('%s', async (name, story: Story) => {
    const difference = known[name];
    if (difference === undefined) return story(place);
    return expect(story(place), `${name}: no longer differs as listed`).rejects.toThrow(
      difference.says,
    );
  });
});

test('what is known to differ is a story that is told', () => {
  expect(Object.keys(knownOfMoto).filter((name) => !Object.hasOwn(stories, name))).toEqual([]);
});
