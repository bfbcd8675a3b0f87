import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';

import { tags } from '#schemas/names.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { type Ec2, failure, speakEc2 } from '../../testing/ec2.ts';
import { nodeClass } from '../../testing/machines.ts';
import { Wire } from '../../testing/wire.ts';
import { AwsCloud } from './aws-cloud.ts';
import { Ec2ClientPool } from './clients.ts';

let wire: Wire;
let cloud: AwsCloud;
beforeAll(async () => {
  wire = await Wire.start();
});
afterAll(() => wire.stop());
beforeEach(() => {
  vi.stubEnv('AWS_ENDPOINT_URL_EC2', wire.url);
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'id');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
  wire.calls.length = 0;
  const clock = new FakeClock();
  cloud = new AwsCloud({ clock, clients: new Ec2ClientPool({ clock, maxAttempts: 1 }) });
});

/** What a rehearsal says when EC2 answers the dry run so; sizes are those that were recorded. */
async function rehearsed(answer: Ec2[string]): Promise<unknown> {
  speakEc2(wire, { RunInstances: answer });
  const work = cloud.rehearse(
    nodeClass({ instanceProfile: 'machine' }),
    'cluster-1',
    new AbortController().signal,
  );
  return work.catch((error: unknown) => error);
}
const dryRuns = () =>
  wire.calls.filter(({ parameters }) => parameters.get('Action') === 'RunInstances');

test('a launch that would pass is asked for as it would be made, and not made', async () => {
  expect(await rehearsed(() => failure('DryRunOperation', 412))).toBeUndefined();

  const [call] = dryRuns();
  expect(Object.fromEntries(call?.parameters ?? [])).toMatchObject({
    DryRun: 'true',
    ImageId: 'ami-1',
    'IamInstanceProfile.Name': 'machine',
    'CpuOptions.NestedVirtualization': 'enabled',
  });
  const values = [...(call?.parameters.entries() ?? [])];
  const key = values.find(([, value]) => value === tags.cluster)?.[0] ?? '';
  expect(call?.parameters.get(key.replace('.Key', '.Value'))).toBe('cluster-1');
});

test.each([
  ['UnauthorizedOperation', 403],
  ['OptInRequired', 403],
])('a refusal with %s says that the credentials may not launch', async (code, status) => {
  expect(await rehearsed(() => failure(code, status))).toMatchObject({
    code: 'KPU212',
    condition: 'CredentialsReady',
    reason: 'LaunchForbidden',
    canPass: true,
  });
});

test('a profile that does not exist is found before the first launch', async () => {
  expect(await rehearsed(() => failure('InvalidIamInstanceProfile.NotFound', 400))).toMatchObject({
    code: 'KPU232',
    condition: 'PlacementReady',
  });
});

test.each([
  ['InsufficientInstanceCapacity', 500],
  ['RequestLimitExceeded', 503],
  ['InternalError', 500],
  ['SomethingNew', 400],
])('%s says nothing about the class', async (code, status) => {
  expect(await rehearsed(() => failure(code, status))).toBeUndefined();
  expect(cloud.unavailable.list()).toEqual([]);
});
