/** Whose account a class is in, and the image that a parameter there names. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import type { ResolvedNodeClass, UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';

import { Ssm } from '../ssm/ssm.ts';
import { accessKeyOf, Sts } from '../sts/sts.ts';
import { fault, unheard } from '../wire/faults.ts';
import { ClaimsOnEc2 } from './testing/claims-on-ec2.ts';

const assumeRoleARN = 'arn:aws:iam::210987654321:role/machines';
let world: ClaimsOnEc2;
let sts: Sts;
let ssm: Ssm;
beforeEach(async () => {
  world = await ClaimsOnEc2.start(vi.stubEnv);
  const { clock } = world.claims;
  [sts, ssm] = [new Sts({ clock }), new Ssm({ clock })];
  await Promise.all([sts.start(), ssm.start()]);
  vi.stubEnv('AWS_ENDPOINT_URL_STS', sts.url);
  vi.stubEnv('AWS_ENDPOINT_URL_SSM', ssm.url);
  world.ec2.calls.length = 0;
});
afterEach(async () => {
  await Promise.all([sts.stop(), ssm.stop(), world.stop()]);
});

const machine = {
  name: 'web-1',
  claim: 'web-1',
  claimUid: 'uid-1',
  nodePool: 'web',
  nodeClass: 'default',
  clusterUid: 'cluster',
};

type Aws = NonNullable<UnikraftNodeClassSpec['aws']>;

async function resolve(
  aws: Partial<Aws> = {},
  image?: UnikraftNodeClassSpec['image'],
): Promise<ResolvedNodeClass> {
  const terms = [{ tags: { 'karpenter.sh/discovery': 'sandbox' } }];
  const place = {
    region: 'eu-central-1',
    subnetSelectorTerms: terms,
    securityGroupSelectorTerms: terms,
    ...aws,
  };
  return world.resolve({ aws: place, ...(image && { image }) });
}

describe('the role of a class', () => {
  test('is assumed with the external id that it asks for, and makes all calls', async () => {
    sts.roles.push({ arn: assumeRoleARN, externalID: 'cluster-1' });
    await resolve({ assumeRoleARN, assumeRoleExternalID: 'cluster-1' });

    expect(new Set(world.ec2.calls.map(({ by }) => by))).toEqual(
      new Set([accessKeyOf(assumeRoleARN)]),
    );
    await resolve();
    expect(world.ec2.calls.at(-1)?.by).toBe('sandbox'); // a class without a role is not in its account
  });

  test.each([
    ['another external id', { assumeRoleARN, assumeRoleExternalID: 'cluster-2' }],
    ['no external id', { assumeRoleARN }],
    ['a role that is not there', { assumeRoleARN: `${assumeRoleARN}s` }],
  ])('is refused for %s: the class says so, and its cloud is not asked', async (_, role) => {
    sts.roles.push({ arn: assumeRoleARN, externalID: 'cluster-1' });
    await expect(resolve(role)).rejects.toMatchObject({
      code: 'KPU214',
      condition: 'CredentialsReady',
      reason: 'RoleRefused',
      canPass: true,
      message: expect.stringMatching(/AccessDenied.*trust policy/s) as string,
    });
    expect(world.ec2.calls).toEqual([]);
  });

  test('is not refused by an STS that is away: that says nothing about the class', async () => {
    sts.roles.push({ arn: assumeRoleARN });
    sts.faults.next('AssumeRole', unheard({ times: Infinity }));
    await expect(resolve({ assumeRoleARN })).rejects.toMatchObject({ code: 'KPU314' });
    sts.faults.clear();
    await resolve({ assumeRoleARN });
  });
});

test('T11: a quota of one account stops nobody in another, though they share a region', async () => {
  sts.roles.push({ arn: assumeRoleARN });
  const theirs = await resolve({ assumeRoleARN });
  const ours = await resolve();
  const { id: subnet = '', zone = '' } = theirs.subnets[0] ?? {};
  const candidate = { attempt: 1, instanceType: 'm8i.xlarge', zone, subnet, metal: false };
  world.ec2.faults.next('RunInstances', fault({ code: 'VcpuLimitExceeded' }));
  const { signal } = new AbortController();
  const request = { identity: machine, nodeClass: theirs, candidate, userData: '' };
  await expect(world.cloud.launch(request, signal)).rejects.toMatchObject({ code: 'KPU316' });

  const isSold = async (nodeClass: ResolvedNodeClass): Promise<boolean | undefined> => {
    const sizes = await world.cloud.sizes(nodeClass, signal);
    const size = sizes.find(({ type }) => type.name === 'm8i.xlarge');
    return size?.offerings.some(({ available }) => available);
  };
  expect([await isSold(theirs), await isSold(ours)]).toEqual([false, true]);
  expect(world.cloud.unavailable.list().map(({ what }) => what)).toEqual([
    'standard vCPU quota of eu-central-1 of account 210987654321',
  ]);
});

describe('an image that a parameter names', () => {
  const [platform, other] = ['ami-0c000000000000001', 'ami-0c000000000000009'];
  const byParameter = async (ssmParameter = '/images/platform') =>
    resolve({}, { selectorTerms: [{ ssmParameter }] });

  beforeEach(() => {
    const [image] = world.ec2.account.images;
    world.ec2.account.images.push({ ...image!, id: other, name: 'unikraft-platform-2' });
    ssm.put('/images/platform', platform);
  });

  test('is that of the value now, of a version, or of a label', async () => {
    ssm.put('/images/platform', other);
    ssm.label('/images/platform', 'stable', 1);
    const arn = 'arn:aws:ssm:eu-central-1:210987654321:parameter/images/platform';
    const found = await Promise.all(
      ['', ':1', ':stable'].map(async (at) => byParameter(`/images/platform${at}`)),
    );
    expect(found.map(({ image }) => image.id)).toEqual([other, platform, platform]);
    expect((await byParameter(`${arn}:2`)).image).toMatchObject({
      id: other,
      architecture: 'amd64',
    });
  });

  test('has to fit the other parts of its term', async () => {
    const term = { ssmParameter: '/images/platform', owner: '999999999999' };
    await expect(resolve({}, { selectorTerms: [term] })).rejects.toMatchObject({
      code: 'KPU220',
      message: expect.stringContaining(`ssmParameter /images/platform`) as string,
    });
  });

  test.each([
    ['/images/none', 'ParameterNotFound'],
    ['/images/platform:7', 'ParameterVersionNotFound'],
    ['/images/platform:latest', 'ParameterVersionNotFound'],
    ['/images/wrong', 'holds 12 characters that are no id of an image'],
  ])('is named by %s: %s', async (name, words) => {
    ssm.put('/images/wrong', 'golden image');
    await expect(byParameter(name)).rejects.toMatchObject({
      code: 'KPU213',
      condition: 'ImageReady',
      message: expect.stringContaining(words) as string,
    });
  });

  test('that may not be read is a matter of the credentials', async () => {
    const refusal = fault<unknown>({ code: 'AccessDeniedException', status: 400 });
    ssm.faults.next('GetParameter', refusal);
    await expect(byParameter()).rejects.toMatchObject({
      code: 'KPU210',
      condition: 'CredentialsReady',
    });
  });

  test('is read by the role of the class', async () => {
    sts.roles.push({ arn: assumeRoleARN });
    await resolve({ assumeRoleARN }, { selectorTerms: [{ ssmParameter: '/images/platform' }] });
    expect(ssm.calls.map(({ by }) => by)).toEqual([accessKeyOf(assumeRoleARN)]);
  });

  test('is not asked for by a class that names its image otherwise', async () => {
    await resolve();
    expect(ssm.calls).toEqual([]);
  });
});
