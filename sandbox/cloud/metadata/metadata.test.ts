import { GetWebIdentityTokenCommand, STSClient } from '@aws-sdk/client-sts';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { TokenIssuer } from '#machine/testing/token-issuer.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

import { Sts } from '../sts/sts.ts';
import { MetadataServer, type Resident } from './metadata.ts';

const onAws = { cloud: 'aws', account: '123456789012', region: 'eu-central-1' } as const;
const onGoogle = { cloud: 'gcp', project: 'demo-project', zone: 'europe-west1-b' } as const;
const here = '127.0.0.1';
const identity = '/computeMetadata/v1/instance/service-accounts/default/identity';

let issuers: { aws: TokenIssuer; google: TokenIssuer };
let server: MetadataServer;
let sts: Sts;
let resident: Resident | undefined;
beforeAll(async () => {
  issuers = { aws: await TokenIssuer.start('ES384'), google: await TokenIssuer.start() };
  server = new MetadataServer({
    ...issuers,
    whoIs: (address) => (address === here ? resident : undefined),
  });
  const webIdentity = (key: string, audience: string) => server.webIdentity(key, audience);
  sts = new Sts({ clock: new SystemClock(), webIdentity });
  await Promise.all([server.start(), sts.start()]);
});
afterAll(async () =>
  Promise.all([server, sts, issuers.aws, issuers.google].map(async (one) => one.stop())),
);

async function ask(path: string, headers = {}, method = 'GET'): Promise<[number, string]> {
  const answer = await fetch(`${server.url}${path}`, { headers, method });
  return [answer.status, await answer.text()];
}

test('a machine of Google’s gets a token about itself, for the audience that it names', async () => {
  resident = { ...onGoogle, instance: 'uk-web-1', serviceAccount: 'machines@demo' };
  const google = { 'metadata-flavor': 'Google' };
  const [status, token] = await ask(`${identity}?audience=here&format=full`, google);
  expect(status).toBe(200);
  expect(decodeJwt(token)).toMatchObject({
    iss: 'https://accounts.google.com',
    aud: 'here',
    google: { compute_engine: { project_id: 'demo-project', instance_name: 'uk-web-1' } },
  });
  const [, brief] = await ask(`${identity}?audience=here`, google);
  expect(decodeJwt(brief)).not.toHaveProperty('google');
  expect((await ask(`${identity}?audience=here&format=full`))[0]).toBe(403);
  resident = { ...onGoogle, instance: 'uk-web-1', serviceAccount: undefined };
  expect((await ask(`${identity}?audience=here&format=full`, google))[0]).toBe(404);
});

test('a machine of AWS’s gets its role’s keys by a session, and STS says by them which machine it is', async () => {
  resident = { ...onAws, instance: 'i-0abc', profile: 'machine' };
  const roles = '/latest/meta-data/iam/security-credentials/';
  expect((await ask(roles))[0]).toBe(401);
  const [, session] = await ask('/latest/api/token', {}, 'PUT');
  const [, held] = await ask(`${roles}machine`, { 'x-aws-ec2-metadata-token': session });
  const { AccessKeyId, SecretAccessKey } = JSON.parse(held) as Record<string, string>;
  const client = (accessKeyId = ''): STSClient => {
    const credentials = { accessKeyId, secretAccessKey: SecretAccessKey ?? '' };
    return new STSClient({
      endpoint: sts.url,
      region: 'eu-central-1',
      credentials,
      maxAttempts: 1,
    });
  };
  const wanted = { Audience: ['here'], SigningAlgorithm: 'ES384' };
  const { WebIdentityToken = '' } = await client(AccessKeyId).send(
    new GetWebIdentityTokenCommand(wanted),
  );
  expect(decodeJwt(WebIdentityToken)).toMatchObject({
    iss: issuers.aws.url,
    aud: 'here',
    'https://sts.amazonaws.com/': {
      aws_account: '123456789012',
      ec2_source_instance_arn: 'arn:aws:ec2:eu-central-1:123456789012:instance/i-0abc',
    },
  });
  const person = client('AKIASOMEBODY').send(new GetWebIdentityTokenCommand(wanted));
  await expect(person).rejects.toThrow('not authorized to perform: sts:GetWebIdentityToken');
});

test('whoever has no instance is told nothing', async () => {
  resident = undefined;
  expect((await ask('/latest/api/token', {}, 'PUT'))[0]).toBe(404);
});
