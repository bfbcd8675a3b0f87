import { expect, test } from 'vitest';

import { seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { Reach } from '../reach.ts';
import { pace } from './paced.ts';

type Call = (input: unknown) => Promise<unknown>;

/** A client whose every call is answered by what `answers` has next. */
function clientOf(answers: readonly object[], clock: FakeClock): Call {
  const left = [...answers];
  let call: Call = async () => {
    const answer = left.shift();
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const middlewareStack = {
    addRelativeTo(around: (next: Call, context: object) => Call): void {
      call = around(call, { commandName: 'DescribeInstances' });
    },
  };
  pace({ middlewareStack }, clock, new Reach(clock, 'EC2'));
  return async (input) => call(input);
}

function refusal(name: string, httpStatusCode: number): Error {
  return Object.assign(new Error(name), { name, $metadata: { httpStatusCode } });
}

test('calls that are answered "not found" bring the rate back as those that succeed do', async () => {
  const clock = new FakeClock();
  const slower = refusal('RequestLimitExceeded', 503);
  const absent = refusal('InvalidInstanceID.NotFound', 400);
  const call = clientOf([slower, ...Array.from({ length: 42 }, () => absent)], clock);
  await expect(call({})).rejects.toThrow('RequestLimitExceeded');
  for (let count = 0; count < 40; count += 1) {
    const answer = call({}).catch((error: unknown) => error);
    // oxlint-disable-next-line no-await-in-loop -- one call after the other
    await clock.forward(seconds(1));
    // oxlint-disable-next-line no-await-in-loop -- one call after the other
    expect(await answer).toBe(absent);
  }

  const began = clock.now();
  await Promise.all([
    expect(call({})).rejects.toThrow('NotFound'),
    expect(call({})).rejects.toThrow('NotFound'),
  ]);
  expect(clock.now()).toBe(began);
});
