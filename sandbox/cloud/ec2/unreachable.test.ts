/** A region of AWS that nobody can reach: its classes say so, it is asked seldom, and nobody else notices. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { AwsCloud } from '#machine/cloud/aws/aws-cloud.ts';
import { Ec2ClientPool } from '#machine/cloud/aws/clients.ts';
import type { UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';
import { hours, minutes, seconds } from '#schemas/time/clock.ts';

import { Ssm } from '../ssm/ssm.ts';
import { ClassesInClouds } from '../testing/classes-in-clouds.ts';
import { Ec2 } from './ec2.ts';
import { ClaimsOnEc2 } from './testing/claims-on-ec2.ts';

const terms = [{ tags: { 'karpenter.sh/discovery': 'sandbox' } }];
const specIn = (region: string): Partial<UnikraftNodeClassSpec> => ({
  aws: { region, subnetSelectorTerms: terms, securityGroupSelectorTerms: terms },
});
const [here, there] = ['eu-central-1', 'eu-west-1'];

describe('node classes of two regions', () => {
  let classes: ClassesInClouds;
  let ec2: Ec2;
  let clients: Ec2ClientPool;
  beforeEach(async () => {
    classes = new ClassesInClouds();
    const { clock } = classes;
    const timings = { running: 0, terminating: 0, invisible: 0, listed: hours(1) };
    const hardware = { place: () => '127.64.0.1', powerOn: () => {}, powerOff: () => {} };
    ec2 = new Ec2({ clock, timings, hardware });
    await ec2.start();
    vi.stubEnv('AWS_ENDPOINT_URL_EC2', ec2.url);
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'sandbox');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'sandbox');
    clients = new Ec2ClientPool({ clock, maxAttempts: 1 });
    const cloud = new AwsCloud({ clock, clients });
    classes.useClouds(() => cloud);
  });
  afterEach(async () => {
    clients.close();
    await ec2.stop();
  });

  const apply = async () => {
    await classes.apply('here', specIn(here));
    await classes.apply('there', specIn(there));
  };

  test('one whose region goes away says so, with an event, and stays usable; the other notices nothing', async () => {
    await apply();
    const before = classes.condition('here', 'Ready');
    ec2.away.add(there);
    await classes.pass(minutes(20), 'here', 'there');

    expect(classes.condition('there', 'CloudReachable')).toMatchObject({
      status: 'False',
      reason: 'CloudUnreachable',
      message: expect.stringMatching(
        /^EC2 in eu-west-1 does not answer \(.*\); one call a minute .*\(KPU215\)$/,
      ) as string,
    });
    expect(classes.condition('there', 'Ready')?.status).toBe('True');
    expect(classes.status('there').currentRevision).toBeDefined();
    expect(classes.told('there')).toContain('Warning CloudUnreachable');
    expect(classes.condition('here', 'Ready')).toEqual(before);
    expect(classes.condition('here', 'CloudReachable')?.status).toBe('True');
    expect(classes.told('here')).toEqual(['Normal RevisionReady']);

    ec2.away.clear();
    await classes.pass(minutes(2), 'here', 'there');
    expect(classes.condition('there', 'CloudReachable')?.status).toBe('True');
  });

  test('a new one in a region that is away is not Ready, and is once it is there', async () => {
    ec2.away.add(there);
    await apply();
    await classes.pass(minutes(2), 'there');
    expect(classes.condition('there', 'Ready')).toMatchObject({
      status: 'Unknown',
      reason: 'CloudUnreachable',
    });
    expect(classes.condition('there', 'Stalled')?.status).toBe('False'); // it may come by itself
    ec2.away.clear();
    await classes.pass(minutes(2), 'there');
    expect(classes.condition('there', 'Ready')?.status).toBe('True');
  });

  test('an hour without the region costs a few calls, however many classes are in it', async () => {
    const names = Array.from({ length: 4 }, (_, index) => `there-${index}`);
    for (const name of names) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await classes.apply(name, specIn(there));
    }
    ec2.away.add(there);
    ec2.calls.length = 0;
    await classes.pass(hours(1), ...names);
    expect(ec2.calls.length).toBeGreaterThan(30); // it is not given up
    expect(ec2.calls.length).toBeLessThan(150);
    expect(new Set(ec2.calls.map(({ outcome }) => outcome))).toEqual(new Set(['unheard']));
  });

  test('where only the parameter of the image cannot be read, the class waits for it', async () => {
    const ssm = new Ssm({ clock: classes.clock });
    await ssm.start();
    vi.stubEnv('AWS_ENDPOINT_URL_SSM', ssm.url);
    ssm.put('/images/platform', 'ami-0c000000000000001');
    ssm.away.add('all');
    const image = { selectorTerms: [{ ssmParameter: '/images/platform' }] };
    await classes.apply('here', { ...specIn(here), image });
    expect(classes.condition('here', 'Ready')?.status).toBe('Unknown');
    ssm.away.clear();
    await classes.pass(seconds(10), 'here');
    expect(classes.condition('here', 'Ready')?.status).toBe('True');
    await ssm.stop();
  });

  test('a parameter that moves on makes no fleet of two images: the class keeps the one it found', async () => {
    const ssm = new Ssm({ clock: classes.clock });
    await ssm.start();
    vi.stubEnv('AWS_ENDPOINT_URL_SSM', ssm.url);
    const [image] = ec2.account.images;
    const [old, newer] = ['ami-0c000000000000001', 'ami-0c000000000000009'];
    ec2.account.images.push({ ...image!, id: newer, name: 'unikraft-platform-2' });
    ssm.put('/images/platform', old);
    const by = (ssmParameter: string) => ({
      ...specIn(here),
      image: { selectorTerms: [{ ssmParameter }] },
    });
    await classes.apply('here', by('/images/platform'));
    const first = classes.status('here').currentRevision;
    ssm.put('/images/platform', newer);
    await classes.pass(minutes(11), 'here');
    expect(classes.status('here')).toMatchObject({ currentRevision: first, image: { id: old } });

    // a commit takes it up, as it does a name that has moved on
    await classes.apply('here', by('/images/platform:2'));
    const { currentRevision, image: used } = classes.status('here');
    expect(currentRevision).not.toBe(first);
    expect(used?.id).toBe(newer);

    // one that is gone from the cloud is looked for again under the same name
    ssm.put('/images/platform', old);
    ec2.account.images.pop();
    await classes.apply('here', by('/images/platform'));
    expect(classes.status('here').image?.id).toBe(old);
    await ssm.stop();
  });
});

describe('claims', () => {
  let world: ClaimsOnEc2;
  beforeEach(async () => {
    world = await ClaimsOnEc2.start(vi.stubEnv, { paced: true });
  });
  afterEach(async () => world.stop());

  const names = Array.from({ length: 30 }, (_, index) => `web-${index + 1}`);
  const launched = (): number =>
    names.filter((name) => world.claims.condition('Launched', name)?.status === 'True').length;

  test('of a region that is away wait for it at a few calls a minute, say why, and are launched once each', async () => {
    for (const name of names) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await world.claims.claim({}, name);
    }
    world.ec2.away.add('all');
    world.ec2.calls.length = 0;
    const end = world.claims.clock.now() + minutes(4); // before they are given up
    await world.claims.until(() => world.claims.clock.now() >= end);

    const tried = world.ec2.calls.filter(({ action }) => action !== 'DescribeInstanceTypes');
    expect(tried.length).toBeLessThan(20);
    expect(world.claims.condition('Launched', 'web-7')).toMatchObject({
      status: 'Unknown',
      reason: 'CloudUnreachable',
      message: expect.stringContaining('KPU215') as string,
    });

    world.ec2.away.clear();
    await world.claims.until(() => launched() === names.length);
    expect(world.ec2.instances.all).toHaveLength(names.length);
  });
});
