import { beforeEach, expect, test } from 'vitest';

import { minutes } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import type { Cause } from './cause.ts';
import { Launches } from './launches.ts';

const basis = { generation: 1, revision: 'r' };
const chaos: Cause = {
  kind: 'taint',
  subject: 'chaos',
  taint: { key: 'chaos', effect: 'NoExecute' },
};
const byCause = { why: 'it is tainted', causes: [chaos], isOfItsKind: false };

let clock: FakeClock;
let launches: Launches;
beforeEach(() => {
  clock = new FakeClock();
  launches = new Launches(clock);
});

function make(claim: string, group = 'shop/a', at = clock.now()): void {
  launches.add({ claim, pool: 'web', groups: [group], basis, at });
}

const rests = () => launches.restingIn('web', basis);

test('a machine that its Pod was taken from counts for its kind, also where its Node shows why as it ends', () => {
  for (const claim of ['web-1', 'web-2', 'web-3']) {
    make(claim);
    launches.spoiled(claim, 'one was taken away', [chaos]);
    launches.useless(claim, byCause);
    launches.ended(claim);
  }
  expect(rests().byGroup.get('shop/a')).toMatchObject({ machines: 3 });
  expect(rests().byCause.get('taint chaos')).toMatchObject({ machines: 3, coming: 0 });
});

test('what only its Node speaks against is not held against the kind of its Pods', () => {
  for (const claim of ['web-1', 'web-2', 'web-3']) {
    make(claim);
    launches.useless(claim, byCause);
  }
  expect(rests().byGroup.size).toBe(0);
  expect(rests().byCause.get('taint chaos')).toMatchObject({ machines: 3, why: 'it is tainted' });
});

test('machines on their way count with one that is in vain, until one of them opens without it', async () => {
  make('web-1');
  await clock.forward(minutes(1));
  make('web-2', 'shop/b');
  make('web-3', 'shop/c');
  launches.useless('web-1', byCause);
  expect(rests().byCause.get('taint chaos')).toMatchObject({ machines: 3, coming: 2 });
  launches.shows('web-2', []);
  expect(rests().byCause.size).toBe(0);
});

test('a cause that a Node shows no more counts no more', () => {
  for (const claim of ['web-1', 'web-2', 'web-3']) {
    make(claim);
    launches.useless(claim, byCause);
  }
  launches.shows('web-1', []);
  launches.shows('web-2', []);
  launches.shows('web-3', []);
  expect(rests().byCause.size).toBe(0);
});
