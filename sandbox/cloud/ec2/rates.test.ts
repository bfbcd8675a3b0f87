import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { AwsCloud } from '#machine/cloud/aws/aws-cloud.ts';
import { Ec2ClientPool } from '#machine/cloud/aws/clients.ts';
import { Throttled } from '#machine/errors.ts';
import type { Instance } from '#machine/machine.ts';
import type { ResolvedNodeClass } from '#schemas/nodeclass/types.ts';
import { milliseconds, minutes, seconds } from '#schemas/time/clock.ts';

import { overRate } from '../wire/faults.ts';
import { ClaimsOnEc2 } from './testing/claims-on-ec2.ts';

const signal = new AbortController().signal;
let world: ClaimsOnEc2;
let clients: Ec2ClientPool;
let cloud: AwsCloud;
let nodeClass: ResolvedNodeClass;
beforeEach(async () => {
  world = await ClaimsOnEc2.start(vi.stubEnv);
  nodeClass = await world.resolve();
  const { clock } = world.claims;
  clients = new Ec2ClientPool({ clock, maxAttempts: 1 });
  cloud = new AwsCloud({ clock, clients });
});
afterEach(async () => {
  clients.close();
  await world.stop();
});

const identityOf = (number: number) => ({
  name: `web-${number}`,
  claim: `web-${number}`,
  claimUid: `uid-${number}`,
  nodePool: 'web',
  nodeClass: 'default',
  clusterUid: 'cluster',
});
const launch = async (number: number, from = cloud): Promise<Instance> => {
  const { id: subnet = '', zone = '' } = nodeClass.subnets[0] ?? {};
  const candidate = { attempt: 1, instanceType: 'm8i.xlarge', zone, subnet, metal: false };
  return from.launch({ identity: identityOf(number), nodeClass, candidate, userData: '' }, signal);
};

/** As the chain does: a throttled launch is tried again after two seconds. */
async function launchInTheEnd(number: number): Promise<void> {
  try {
    await launch(number);
  } catch (error) {
    if (!(error instanceof Throttled)) throw error;
    await world.claims.clock.sleep(seconds(2));
    await launchInTheEnd(number);
  }
}

/** Moves the clock while calls are under way, which take real time. */
async function settled(work: Promise<unknown>): Promise<void> {
  let isDone = false;
  const end = work.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    // oxlint-disable-next-line no-await-in-loop -- answers come in real time between two moments
    await new Promise((resolve) => setTimeout(resolve, 2));
    // oxlint-disable-next-line no-await-in-loop
    await world.claims.clock.forward(milliseconds(25));
  }
  await end;
}

test('T7: 300 launches at a rate of 20 calls a second all succeed, at less than three calls each, while reads are refused', async () => {
  const { clock } = world.claims;
  world.ec2.faults.next('RunInstances', overRate(clock, { perSecond: 20, burst: 20 }));
  world.ec2.faults.next('DescribeInstances', overRate(clock, { perSecond: 0, burst: 0 }));
  const reads = Promise.allSettled(
    Array.from({ length: 50 }, async (_, at) => cloud.find(nodeClass, identityOf(at), signal)),
  );

  await settled(Promise.all(Array.from({ length: 300 }, async (_, at) => launchInTheEnd(at))));

  expect(world.ec2.instances.live).toHaveLength(300);
  expect(world.ec2.callsOf('RunInstances').length / 300).toBeLessThan(3);
  await settled(reads);
  expect((await reads).map(({ status }) => status)).not.toContain('fulfilled');
});

test('T7: launches that are refused for their rate do not hold up terminations', async () => {
  const { id } = await launch(1);
  world.ec2.faults.next('RunInstances', overRate(world.claims.clock, { perSecond: 0, burst: 0 }));
  await expect(launch(2)).rejects.toBeInstanceOf(Throttled);

  await cloud.terminate(nodeClass, { ...identityOf(1), id }, signal); // at once: the clock stands still

  expect(world.ec2.instances.live).toEqual([]);
});

test('T7: a refusal for the rate says nothing about capacity', async () => {
  world.ec2.faults.next('RunInstances', overRate(world.claims.clock, { perSecond: 0, burst: 0 }));
  await expect(launch(1)).rejects.toMatchObject({ code: 'KPU313', next: 'retry' });
  expect(cloud.unavailable.list()).toEqual([]);
});

test('T29: a clock that is 20 minutes late is corrected by the answer, and the call succeeds', async () => {
  const patient = new Ec2ClientPool({ maxAttempts: 2 });
  const late = new AwsCloud({ clock: world.claims.clock, clients: patient });
  world.ec2.clockAhead = minutes(20);

  await expect(launch(1)).rejects.toMatchObject({ code: 'KPU311' }); // it may try once only
  await launch(1, late);
  await launch(2, late);

  expect(world.ec2.instances.live).toHaveLength(2);
  patient.close();
});
