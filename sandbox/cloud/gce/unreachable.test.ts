/** Google Cloud, or a region of it, that cannot be reached: its classes say so, it is asked seldom, AWS notices nothing. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { AwsCloud } from '#machine/cloud/aws/aws-cloud.ts';
import { Ec2ClientPool } from '#machine/cloud/aws/clients.ts';
import type { UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';
import { hours, minutes } from '#schemas/time/clock.ts';

import { Ec2 } from '../ec2/ec2.ts';
import { ClassesInClouds } from '../testing/classes-in-clouds.ts';
import { tokenAnswer } from './metadata-server.ts';
import { ClaimsOnGce } from './testing/claims-on-gce.ts';
import { signal, specOf, World } from './testing/world.ts';

let classes: ClassesInClouds;
let google: World;
let ec2: Ec2;
let clients: Ec2ClientPool;
beforeEach(async () => {
  classes = new ClassesInClouds();
  const { clock } = classes;
  google = new World(clock);
  const timings = { running: 0, terminating: 0, invisible: 0, listed: hours(1) };
  const hardware = { place: () => '127.64.0.1', powerOn: () => {}, powerOff: () => {} };
  ec2 = new Ec2({ clock, timings, hardware });
  await Promise.all([google.start(), ec2.start()]);
  vi.stubEnv('AWS_ENDPOINT_URL_EC2', ec2.url);
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'sandbox');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'sandbox');
  clients = new Ec2ClientPool({ clock, maxAttempts: 1 });
  const aws = new AwsCloud({ clock, clients });
  classes.useClouds(({ gcp }) => (gcp ? google.cloud : aws));
});
afterEach(async () => {
  clients.close();
  await Promise.all([google.stop(), ec2.stop()]);
});

const terms = [{ tags: { 'karpenter.sh/discovery': 'sandbox' } }];
const onAws: Partial<UnikraftNodeClassSpec> = {
  aws: { region: 'eu-central-1', subnetSelectorTerms: terms, securityGroupSelectorTerms: terms },
};
const onGoogle = specOf();

test('a class of Google Cloud says that it does not answer, and stays usable; one of AWS notices nothing', async () => {
  await classes.apply('google', onGoogle);
  await classes.apply('amazon', onAws);
  google.gce.away.add('all');
  await classes.pass(minutes(20), 'google', 'amazon');

  expect(classes.condition('google', 'CloudReachable')).toMatchObject({
    status: 'False',
    message: expect.stringMatching(/^127\.0\.0\.1:\d+ does not answer .*\(KPU215\)$/) as string,
  });
  expect(classes.condition('google', 'Ready')?.status).toBe('True');
  expect(classes.told('google')).toContain('Warning CloudUnreachable');
  expect(classes.condition('amazon', 'CloudReachable')?.status).toBe('True');
  expect(classes.told('amazon')).toEqual(['Normal RevisionReady']);

  google.gce.away.clear();
  await classes.pass(minutes(2), 'google', 'amazon');
  expect(classes.condition('google', 'CloudReachable')?.status).toBe('True');
});

test('an hour without it costs a few calls, however many classes are in it', async () => {
  const names = Array.from({ length: 4 }, (_, index) => `google-${index}`);
  for (const name of names) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await classes.apply(name, onGoogle);
  }
  google.gce.away.add('all');
  google.gce.calls.length = 0;
  await classes.pass(hours(1), ...names);
  expect(google.gce.calls.length).toBeGreaterThan(30);
  expect(google.gce.calls.length).toBeLessThan(150);
});

test('zones that cannot be reached hold up no machines of other zones', async () => {
  google.nodeClass = await google.resolve();
  const [gone, other] = google.nodeClass.subnets.map(({ zone }) => zone);
  await google.cloud.sizes(google.nodeClass, signal);
  google.gce.instances.unreachable.add(gone!);
  expect(await google.launched({ zone: other! })).toMatchObject({ zone: other });
});

test.for(['instances', 'disks'])(
  'a list of the %s of all zones fails with one zone, unless it may be partial',
  async (what) => {
    google.gce.instances.unreachable.add('europe-west1-b');
    const list = async (query: string): Promise<Response> =>
      fetch(`${google.gce.url}/compute/v1/projects/sandbox-project/aggregated/${what}?${query}`, {
        headers: { authorization: `Bearer ${tokenAnswer.token}` },
      });
    expect(await list('maxResults=500')).toMatchObject({ status: 503 });
    expect(await list('returnPartialSuccess=false')).toMatchObject({ status: 503 });
    const partial = await list('returnPartialSuccess=true');
    expect(await partial.json()).toMatchObject({
      items: { 'zones/europe-west1-b': { warning: { code: 'UNREACHABLE' } } },
    });
  },
);

test('claims wait for it at a few calls a minute, say why, and are launched once each', async () => {
  const world = await ClaimsOnGce.open();
  const names = Array.from({ length: 20 }, (_, index) => `web-${index + 1}`);
  for (const name of names) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await world.claimFor('n2-standard-8', name);
  }
  world.gce.away.add('all');
  world.gce.calls.length = 0;
  const end = world.clock.now() + minutes(4); // before they are given up
  await world.claims.until(() => world.clock.now() >= end);
  expect(world.gce.calls.length).toBeLessThan(20);
  expect(world.claims.condition('Launched', 'web-7')).toMatchObject({
    status: 'Unknown',
    reason: 'CloudUnreachable',
  });

  world.gce.away.clear();
  const launched = (name: string): boolean =>
    world.claims.condition('Launched', name)?.status === 'True';
  await world.claims.until(() => names.every(launched));
  expect(world.gce.instances.made).toBe(names.length);
  await world.stop();
});
