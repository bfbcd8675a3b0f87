import { expect, test, vi, type Mock } from 'vitest';

import * as errors from '#machine/errors.ts';
import { nodeClaims } from '#schemas/karpenter/types.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';

import { memoryContext } from '../../testing/context.ts';
import { nodeClaim } from '../../testing/objects.ts';
import { conflict } from '../../testing/refusals.ts';
import { ClaimInHand } from './claim-in-hand.ts';
import { runChain } from './run-chain.ts';
import { again, done, end, wait, type Outcome, type Step } from './step.ts';

const signal = new AbortController().signal;

function setUp() {
  const { client, clock, context } = memoryContext();
  const claim = client.seed(nodeClaims, nodeClaim('web-1'));
  const hand = new ClaimInHand(claim, undefined, context.clusterUid, clock);
  const conditionOf = (type: string) => hand.status.conditions?.find((one) => one.type === type);
  return { hand, clock, conditionOf };
}

function step(
  outcome: Outcome | Error,
  rest: Partial<Step> = {},
): Step & { run: Mock<Step['run']> } {
  const run = vi.fn<Step['run']>(async () => {
    if (outcome instanceof Error) throw outcome;
    return outcome;
  });
  return { ...rest, run };
}

test('steps run in order until one is not done, and each tells its condition', async () => {
  const { hand, conditionOf } = setUp();
  const steps = [
    step(done()),
    step(done(), { condition: 'CertificateReady' }),
    step(wait({ reason: 'NotYet', message: 'soon' }), { condition: 'Launched' }),
    step(done(), { condition: 'DNSReady' }),
  ];
  expect(await runChain(steps, hand, signal)).toMatchObject({ kind: 'wait', reason: 'NotYet' });
  expect(conditionOf('CertificateReady')).toMatchObject({ status: 'True' });
  expect(conditionOf('Launched')).toMatchObject({ status: 'Unknown', reason: 'NotYet' });
  expect(conditionOf('DNSReady')).toBeUndefined();
  expect(steps[3]?.run).not.toHaveBeenCalled();
});

test('a step without a condition says why it waits in that of the step that waits for it', async () => {
  const { hand, conditionOf } = setUp();
  const away = new errors.CloudUnreachable('EC2 does not answer');
  const steps = [step(away, { waitsIn: 'Launched' }), step(done(), { condition: 'Launched' })];
  await runChain(steps, hand, signal);
  expect(conditionOf('Launched')).toMatchObject({
    status: 'Unknown',
    reason: 'CloudUnreachable',
    message: 'EC2 does not answer (KPU215)',
  });
  await runChain([step(done(), { waitsIn: 'Launched' })], hand, signal);
  expect(conditionOf('Launched')?.status).toBe('Unknown'); // it is not its own
});

test('a step that was done is passed over, unless it is to be looked at always', async () => {
  const { hand, conditionOf } = setUp();
  hand.set({ type: 'DNSReady', status: 'True' });
  hand.set({ type: 'InstanceRunning', status: 'True' });
  const passed = step(done(), { condition: 'DNSReady' });
  const looked = step(wait({ reason: 'Away', message: 'for a moment' }), {
    condition: 'InstanceRunning',
    always: true,
  });
  await runChain([passed, looked], hand, signal);
  expect(passed.run).not.toHaveBeenCalled();
  expect(looked.run).toHaveBeenCalledOnce();
  expect(conditionOf('InstanceRunning')?.status).toBe('True');
});

test('neither another try nor an end is told in a condition: what comes of them is', async () => {
  const { hand, conditionOf } = setUp();
  const why = { metric: 'm', reason: 'R', message: 'text' };
  expect(await runChain([step(again(), { condition: 'Launched' })], hand, signal)).toEqual(again());
  expect(await runChain([step(end(why), { condition: 'Launched' })], hand, signal)).toEqual(
    end(why),
  );
  expect(conditionOf('Launched')).toBeUndefined();
});

const fault = { code: 'KPU230', condition: 'PlacementReady', reason: 'SubnetsNotFound' } as const;

test.each<[string, Error, Outcome]>([
  [
    'same-again',
    new errors.OutcomeUnknown('reset'),
    wait({ after: seconds(2), reason: 'OutcomeUnknown', message: 'reset (KPU314)', failed: true }),
  ],
  [
    'retry',
    new errors.Throttled('slower'),
    wait({ after: seconds(2), reason: 'Throttled', message: 'slower (KPU313)', failed: true }),
  ],
  [
    'slow',
    new errors.Unauthorized('no'),
    wait({ after: minutes(1), reason: 'Unauthorized', message: 'no (KPU311)', failed: true }),
  ],
  [
    'node-class',
    new errors.NodeClassError(fault, 'gone'),
    wait({ after: minutes(1), reason: 'SubnetsNotFound', message: 'gone (KPU230)', failed: true }),
  ],
  ['try-another', new errors.InsufficientCapacity('full', 'capacity'), again()],
  ['next-attempt', new errors.AttemptSpent('spent'), again()],
])('a failure that means %s becomes what that asks for', async (_, error, expected) => {
  const { hand } = setUp();
  expect(await runChain([step(error, { condition: 'Launched' })], hand, signal)).toEqual(expected);
});

test('the pause grows with the time in which nothing moved, and begins anew with each step', async () => {
  const { hand, clock } = setUp();
  const failing = [step(new errors.Throttled('slower'), { condition: 'DNSReady' })];
  const pause = async () => runChain(failing, hand, signal);
  await clock.forward(seconds(40));
  expect(await pause()).toMatchObject({ after: seconds(10) });
  await clock.forward(minutes(30));
  expect(await pause()).toMatchObject({ after: minutes(1) });
  hand.set({ type: 'InstanceRunning', status: 'True' });
  expect(await pause()).toMatchObject({ after: seconds(2) });
});

test('an error that nobody foresaw is told like any other, and handed on', async () => {
  const { hand, conditionOf } = setUp();
  const error = new TypeError('x is undefined');
  const outcome = await runChain([step(error, { condition: 'DNSReady' })], hand, signal);
  expect(outcome).toMatchObject({ kind: 'wait', failed: true, thrown: error });
  expect(conditionOf('DNSReady')).toMatchObject({
    status: 'Unknown',
    reason: 'InternalError',
    message: 'x is undefined (KPU333)',
  });
});

test('a conflict is no news of the step: what is known here is old', async () => {
  const { hand, conditionOf } = setUp();
  const failing = [step(conflict(nodeClaims, 'web-1'), { condition: 'DNSReady' })];
  await expect(runChain(failing, hand, signal)).rejects.toThrow('the object has been modified');
  expect(conditionOf('DNSReady')).toBeUndefined();
});

test('what the end of the process cuts short is no failure of a step', async () => {
  const { hand, conditionOf } = setUp();
  const failing = [step(new Error('aborted'), { condition: 'DNSReady' })];
  await expect(runChain(failing, hand, AbortSignal.abort())).rejects.toThrow('aborted');
  expect(conditionOf('DNSReady')).toBeUndefined();
});
