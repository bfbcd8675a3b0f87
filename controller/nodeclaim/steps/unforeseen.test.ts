import { beforeEach, describe, expect, test } from 'vitest';

import { ConnectionError } from '#kube/client/errors.ts';
import type { Condition } from '#schemas/kubernetes/meta.ts';
import { InvalidQuantity } from '#schemas/quantity/quantity.ts';
import { minutes, seconds, type Duration } from '#schemas/time/clock.ts';

import { ClaimWorld, noLeaks } from '../../testing/claim-world.ts';
import { invalid, refusal, unavailable } from '../../testing/refusals.ts';
import { unforeseen } from './unforeseen.ts';

const call = { verb: 'PATCH', path: '/api/v1/nodes/web-1' };

test.each<[string, unknown, string, string]>([
  [
    'a refusal, in the API server’s words',
    invalid('spec.taints[1]', 'Duplicate value'),
    'Invalid',
    'The API server refuses TEST /: spec.taints[1]: Duplicate value (KPU333)',
  ],
  [
    'a reason that no condition may have',
    refusal(418, "I'm a teapot", 'short and stout.'),
    'Imateapot',
    'The API server refuses TEST /: short and stout (KPU333)',
  ],
  [
    'no answer',
    new ConnectionError(call, new Error('reset')),
    'APIServerUnavailable',
    'PATCH /api/v1/nodes/web-1: no answer from the API server: reset (KPU333)',
  ],
  ['a mistake', new TypeError('x is undefined'), 'InternalError', 'x is undefined (KPU333)'],
  ['what is no Error at all', 'oh', 'InternalError', 'oh (KPU333)'],
])('people read %s', (_, error, reason, message) => {
  expect(unforeseen(error)).toEqual({ reason, message });
});

let world: ClaimWorld;
beforeEach(async () => {
  world = await ClaimWorld.make();
  await world.claim();
});

const said = (type: string): Partial<Condition> | undefined => world.condition(type);
const told = (reason: string): string[] =>
  world.notes.filter((note) => note.reason === reason).map(({ message }) => message);

/** Looks on, and gathers what the work queue gets to log. */
async function endure(
  duration: Duration,
  isOver: () => boolean,
  pause: Duration = seconds(5),
): Promise<unknown[]> {
  const thrown: unknown[] = [];
  for (const end = world.clock.now() + duration; world.clock.now() < end && !isOver();) {
    await world.look().catch((error: unknown) => thrown.push(error));
    await world.clock.forward(pause);
  }
  return thrown;
}

const deadlines = [
  'LaunchDeadlineExceeded',
  'HealthDeadlineExceeded',
  'RegistrationDeadlineExceeded',
];
const isGone = (): boolean => world.find() === undefined;

/** One for each deadline, by what it waits for, and the condition that the same pass makes true before it fails. */
const launches: [string, string, string, (error: Error) => void][] = [
  [
    'CertificateReady',
    'Launched did not come about',
    'Ready',
    (error) => world.client.fail(writes('secrets'), error, Infinity),
  ],
  [
    'PlatformHealthy',
    'PlatformHealthy did not come about',
    'DNSReady',
    (error) => {
      world.platform.allows = { memoryMiB: 4 };
      world.client.fail(writes('unikraftnodeclasses'), error, Infinity);
    },
  ],
  [
    'KraftletInstalled',
    'Registered did not come about',
    'PlatformHealthy',
    (error) => world.client.fail(writes('serviceaccounts'), error, Infinity),
  ],
  [
    'Registered',
    'Registered did not come about',
    'KraftletInstalled',
    (error) => world.client.fail(writes('nodes'), error, Infinity),
  ],
];

const writes =
  (plural: string) =>
  (made: { verb: string; plural: string }): boolean =>
    made.plural === plural && (made.verb === 'patch' || made.verb === 'create');

const errors: [string, Error][] = [
  ['RequestEntityTooLarge', refusal(413, 'RequestEntityTooLarge', 'limit is 3145728')],
  ['Invalid', invalid('spec', 'no')],
  ['ServiceUnavailable', unavailable()],
  ['APIServerUnavailable', new ConnectionError(call, new Error('reset'))],
  ['InternalError', new TypeError('x is undefined')],
];

describe.each(launches)('while %s fails', (condition, missed, before, failWith) => {
  // A release that is refused as invalid was foreseen: KPU328.
  const open = errors.filter(
    ([reason]) => condition !== 'KraftletInstalled' || reason !== 'Invalid',
  );
  test.each(open)('for %s, the pass says so and its deadline holds', async (reason, error) => {
    failWith(error);
    const thrown = await endure(seconds(60), () => said(condition)?.reason === reason);
    expect(said(condition)).toMatchObject({ status: 'Unknown', reason });
    expect(said(condition)?.message).toMatch(/\(KPU333\)$/);
    expect(said(before)).toBeDefined(); // what the same pass found out before is written
    expect(thrown).toEqual([error]);
    expect(told(reason)).toEqual([said(condition)?.message]);

    await endure(minutes(30), isGone, minutes(1));
    const ends = [...new Set(deadlines.flatMap(told))]; // an API server that is away may have one told twice
    expect(ends).toEqual([expect.stringContaining(missed)]);
    expect(world.leaks()).toEqual(noLeaks);
  });
});

test('quotas that nobody can reckon with end the claim by its deadline', async () => {
  world.platform.allows = { memoryMiB: 1e21 };
  const isTold = (): boolean => said('PlatformHealthy')?.reason === 'InternalError';
  const [thrown] = await endure(minutes(1), isTold);
  expect(thrown).toBeInstanceOf(InvalidQuantity);
  expect(said('DNSReady')).toMatchObject({ status: 'True' });
  await endure(minutes(30), isGone, minutes(1));
  expect(told('HealthDeadlineExceeded')).toHaveLength(1);
  expect(world.leaks()).toEqual(noLeaks);
});

test('a termination that fails says so, keeps what it found out, and goes on when it can', async () => {
  await world.initialized();
  await world.delete();
  const isSet = ({ verb, plural }: { verb: string; plural: string }): boolean =>
    verb === 'list' && plural === 'statefulsets';
  world.client.fail(isSet, unavailable(), 3);
  await expect(world.pass()).rejects.toThrow('503');
  expect(said('Drained')).toMatchObject({ status: 'True' });
  expect(told('FailedTermination')).toEqual([
    'The API server refuses TEST /: the server is currently unable to handle the request (KPU333)',
  ]);
  await endure(minutes(2), isGone);
  expect(world.leaks()).toEqual(noLeaks);
});
