import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { ourRef } from '#controller/testing/objects.ts';
import { refusal } from '#controller/testing/refusals.ts';
import { labels } from '#schemas/names.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';

import { lost } from '../wire/faults.ts';
import { ClaimsOnEc2 } from './testing/claims-on-ec2.ts';

let world: ClaimsOnEc2;
beforeEach(async () => {
  world = await ClaimsOnEc2.start(vi.stubEnv);
});
afterEach(() => world.stop());

const runs = (name = 'web-1') => world.claims.condition('InstanceRunning', name)?.status === 'True';
const launched = (name = 'web-1') => world.claims.condition('Launched', name)?.status === 'True';
const endOf = () => world.claims.notes.find(({ reason }) => reason === 'InstanceEnded')?.message;

test('T2: status writes that are refused, and a process that then starts anew, make one machine', async () => {
  const conflict = refusal(409, 'Conflict', 'somebody else wrote');
  world.claims.client.fail(
    ({ plural, subresource }) => plural === 'nodeclaims' && subresource === 'status',
    conflict,
    3,
  );
  await world.claims.claim();
  await world.claims.pass();
  world.claims.restart(); // it knows of the machine no more than what the claim says
  await world.claims.until(() => runs());

  const tokens = world.ec2
    .callsOf('RunInstances')
    .map(({ parameters }) => parameters.text('ClientToken'));
  expect(new Set(tokens).size).toBe(1);
  expect(world.ec2.instances.all).toHaveLength(1);
});

test('T26: bare metal that boots for twelve minutes is waited for, its claim says in which phase it is, and in which it ended', async () => {
  world.ec2.instances.next({ running: minutes(3) });
  await world.claims.claim({
    spec: {
      nodeClassRef: ourRef,
      requirements: [{ key: labels.instanceType, operator: 'In', values: ['m5.metal'] }],
    },
  });
  const passed = async (time: number): Promise<void> => {
    const end = world.claims.clock.now() + time;
    await world.claims.until(() => world.claims.clock.now() >= end, time + minutes(1));
  };
  await passed(minutes(2));
  expect(world.claims.condition('InstanceRunning')?.message).toContain('is starting');
  await passed(minutes(12));
  expect(world.claims.condition('PlatformHealthy')).toMatchObject({
    status: 'Unknown',
    reason: 'PlatformNotHealthy', // it boots still: no registration runs out meanwhile
  });
  await passed(minutes(10));
  await world.claims.gone();
  expect(world.claims.notes.map(({ reason }) => reason)).toContain('HealthDeadlineExceeded');
  expect(world.ec2.instances.live).toEqual([]);
});

test('T27: a claim that is deleted while its launch is unanswered leaves nothing', async () => {
  world.ec2.faults.next('RunInstances', lost());
  await world.claims.claim();
  await world.claims.pass(); // the machine is there, and nobody knows
  expect(world.ec2.instances.live).toHaveLength(1);
  await world.claims.delete();
  await world.claims.gone();
  expect(world.ec2.instances.live).toEqual([]);
});

test('T6: an instance that Describe does not know for 45 s is neither given up nor made twice', async () => {
  world.ec2.instances.next({ invisible: seconds(45) });
  await world.claims.claim();
  await world.claims.until(() => runs());

  expect(world.ec2.callsOf('RunInstances')).toHaveLength(1);
  expect(world.ec2.instances.live).toHaveLength(1);
});

test('T12: a stopped instance is not gone: its claim ends, and the instance is terminated', async () => {
  await world.claims.claim();
  await world.claims.until(() => runs());
  world.ec2.instances.stop(world.ec2.instances.live[0]!.id);

  await world.claims.gone();

  expect(endOf()).toContain('is stopped: Server.ScheduledStop');
  expect(world.ec2.instances.all.map(({ state }) => state)).toEqual(['terminated']);
});

test('T13: a claim is kept until its instance is terminated, however long that takes', async () => {
  world.ec2.instances.next({ terminating: seconds(90) });
  await world.claims.claim();
  await world.claims.until(() => runs());
  await world.claims.delete();
  await world.claims.look();
  const begin = world.claims.clock.now();

  await world.claims.gone();

  expect(world.claims.clock.now() - begin).toBeGreaterThanOrEqual(seconds(90));
  // a list of the second before may be shown once more
  expect(world.ec2.callsOf('TerminateInstances').length).toBeLessThanOrEqual(2);
  expect(world.ec2.instances.all.map(({ state }) => state)).toEqual(['terminated']);
});

test('T13: termination protection is told and waited for', async () => {
  await world.claims.claim();
  await world.claims.until(() => runs());
  world.ec2.instances.all[0]!.isProtected = true;
  await world.claims.delete();
  await world.claims.look();
  await world.claims.look();

  expect(world.claims.condition('InstanceTerminated')).toMatchObject({
    status: 'Unknown',
    reason: 'TerminationRefused',
    message: expect.stringMatching(/OperationNotPermitted.*\(KPU331\)$/) as string,
  });
  expect(world.claims.notes).toContainEqual(
    expect.objectContaining({ reason: 'FailedTermination' }),
  );
  expect(world.ec2.instances.live).toHaveLength(1);

  world.ec2.instances.all[0]!.isProtected = false;
  await world.claims.gone();
  expect(world.ec2.instances.live).toEqual([]);
});

test('T28: one protected instance among five holds up no other', async () => {
  const names = ['web-1', 'web-2', 'web-3', 'web-4', 'web-5'];
  await Promise.all(names.map(async (name) => world.claims.claim({}, name)));
  await world.claims.until(() => names.every((name) => runs(name)));
  world.ec2.instances.all[2]!.isProtected = true;
  await Promise.all(names.map(async (name) => world.claims.delete(name)));

  await world.claims.until(() => world.ec2.instances.live.length === 1);

  const held = world.ec2.instances.live[0];
  expect(held?.isProtected).toBe(true);
  await world.claims.until(() => names.filter((name) => world.claims.find(name)).length === 1);
});

test.each([
  ['Client.InvalidKMSKey.InvalidState', 'The KMS key provided is in an incorrect state'],
  ['Client.VolumeLimitExceeded', 'Volume limit exceeded'],
  ['Client.InternalError', 'Client.InternalError: Client error on launch'],
])(
  'an instance that dies of %s on its launch ends its claim with that reason',
  async (code, message) => {
    world.ec2.instances.next({ fails: { code, message } });
    await world.claims.claim();
    await world.claims.until(() => launched());
    await world.claims.gone();

    const words = message.startsWith(code) ? message : `${code}: ${message}`;
    expect(endOf()).toMatch(new RegExp(`^Instance i-\\w+ is terminated: ${words}; .*KPU330`));
    expect(world.ec2.instances.live).toEqual([]);
  },
);
