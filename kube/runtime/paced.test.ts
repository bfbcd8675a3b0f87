import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';

import { milliseconds, seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { paced } from './paced.ts';

let clock: FakeClock;
let woken: { readonly key: string; readonly at: number }[];
let change: (key: string) => void;
let end: () => void;
beforeEach(() => {
  begin();
});

function begin(): void {
  clock = new FakeClock();
  woken = [];
  const inner = {
    kind: 'NodeClaim',
    whenSynced: async () => {},
    subscribe: (enqueue: (key: string) => void) => {
      change = enqueue;
      return () => (change = () => {});
    },
  };
  const began = clock.now();
  end = paced(inner, clock, seconds(1)).subscribe(
    (key) => woken.push({ key, at: clock.now() - began }),
    () => {},
  );
}

test('the first change wakes at once, and those of the next second together at its end', async () => {
  change('web');
  for (let count = 0; count < 200; count++) change('web');
  change('batch');
  await clock.forward(seconds(5));
  expect(woken).toEqual([
    { key: 'web', at: 0 },
    { key: 'batch', at: 0 },
    { key: 'web', at: seconds(1) },
  ]);
});

test('whoever ends it is woken no more', async () => {
  change('web');
  change('web');
  end();
  await clock.forward(seconds(5));
  expect(woken).toHaveLength(1);
});

test('no change goes unseen for longer than the pause, and no two looks are closer', async () => {
  const waits = fc.array(fc.integer({ min: 0, max: 1500 }), { minLength: 1, maxLength: 20 });
  const property = fc.asyncProperty(waits, async (all) => {
    begin();
    const changes: number[] = [];
    let now = 0;
    for (const wait of all) {
      await clock.forward(milliseconds(wait)); // oxlint-disable-line no-await-in-loop -- time goes on
      now += wait;
      changes.push(now);
      change('web');
    }
    await clock.forward(seconds(3));
    const looks = woken.map(({ at }) => at);
    const unseen = changes.filter((at) => !looks.some((look) => look >= at && look - at <= 1000));
    const close = looks.slice(1).filter((look, index) => look - (looks[index] ?? 0) < 1000);
    expect({ unseen, close }).toEqual({ unseen: [], close: [] });
  });
  await fc.assert(property, { numRuns: 60 });
});
