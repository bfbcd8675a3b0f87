import { beforeEach, expect, test } from 'vitest';

import { minutes, seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { isConnectionTrouble } from './connection-trouble.ts';
import { CloudUnreachable } from './errors.ts';
import { Reach } from './reach.ts';

let clock: FakeClock;
let reach: Reach;
beforeEach(() => {
  clock = new FakeClock();
  reach = new Reach(clock, 'EC2 in eu-central-1');
});

/** How many of so many callers got through, all of whom met nobody. */
function inVain(callers: number): number {
  const sent = Array.from({ length: callers }, () => {
    try {
      return reach.turn();
    } catch (error) {
      if (!(error instanceof CloudUnreachable)) throw error;
      return undefined;
    }
  }).filter((at) => at !== undefined);
  sent.forEach((at) => reach.failed(at, new Error('connect ECONNREFUSED')));
  return sent.length;
}

test('three calls in a row without an answer are an outage; one that is answered begins anew', () => {
  expect([inVain(1), inVain(1)]).toEqual([1, 1]);
  reach.answered();
  expect([inVain(1), inVain(1), inVain(1), inVain(1)]).toEqual([1, 1, 1, 0]);
  expect(() => reach.turn()).toThrow(
    'EC2 in eu-central-1 does not answer (connect ECONNREFUSED); one call a minute',
  );
});

test('an outage of an hour costs the same few calls with one caller as with fifty', async () => {
  const callsIn = async (callers: number): Promise<number> => {
    reach = new Reach(clock, 'x');
    for (let call = 0; call < 3; call += 1) inVain(1);
    let calls = 3;
    for (let step = 0; step < 720; step += 1) {
      // oxlint-disable-next-line no-await-in-loop -- step after step
      await clock.forward(seconds(5));
      calls += inVain(callers);
    }
    return calls;
  };
  const few = await callsIn(1);
  expect(few).toBeLessThan(67);
  expect(await callsIn(50)).toBe(few);
});

test('calls that were under way together count once, so that the first pause is short', async () => {
  expect(inVain(500)).toBe(500);
  await clock.forward(seconds(4));
  expect(inVain(1)).toBe(0);
  await clock.forward(minutes(1));
  expect(inVain(10)).toBe(1);
});

test('once it answers everybody gets through', async () => {
  for (let call = 0; call < 3; call += 1) inVain(1);
  await clock.forward(minutes(1));
  reach.turn();
  expect(() => reach.turn()).toThrow(CloudUnreachable); // until it is known what becomes of that one
  reach.answered();
  reach.turn();
  reach.turn();
});

test.each([
  [Object.assign(new Error('x'), { code: 'ENOTFOUND' }), true],
  [Object.assign(new Error('x'), { name: 'TimeoutError' }), true],
  [
    new Error('x', { cause: Object.assign(new Error('y'), { code: 'UND_ERR_CONNECT_TIMEOUT' }) }),
    true,
  ],
  [Object.assign(new Error('x'), { name: 'InternalError' }), false],
  [new TypeError('x is not a function'), false],
  [undefined, false],
])('%s is trouble of the connection: %s', (error, is) => {
  expect(isConnectionTrouble(error)).toBe(is);
});
