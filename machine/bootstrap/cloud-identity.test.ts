import { SignJWT, UnsecuredJWT, decodeJwt, type JWTPayload } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { awsPayload, googlePayload, TokenIssuer } from '../testing/token-issuer.ts';
import { CloudIdentities } from './cloud-identity.ts';
import { differenceBetween } from './launched.ts';
import { BootstrapRefused, KeysUnavailable } from './refusal.ts';
import { audienceOf } from './unproven.ts';

const audience = audienceOf('claim-1');
const onGoogle = { project: 'demo-project', zone: 'europe-west1-b', instance: 'uk-web-1' };
const onAws = { account: '123456789012', region: 'eu-central-1', instance: 'i-0abc' };

let google: TokenIssuer;
let aws: TokenIssuer;
let identities: CloudIdentities;
beforeAll(async () => {
  [google, aws] = await Promise.all([TokenIssuer.start('RS256'), TokenIssuer.start('ES384')]);
});
beforeEach(() => {
  Object.assign(google, { calls: 0, failsWith: undefined });
  identities = new CloudIdentities({ awsIssuers: [aws.url], googleKeys: google.url });
});
afterAll(async () => Promise.all([google.stop(), aws.stop()]));

const now = (): string => new Date().toISOString();
const read = async (token: string, at = now()) => identities.read(token, audience, at);
const minutesFromNow = (minutes: number): Date => new Date(Date.now() + minutes * 60_000);

async function refusal(token: string): Promise<string> {
  const error = await read(token).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(BootstrapRefused);
  expect(error).toMatchObject({ kind: 'identity' });
  return (error as Error).message;
}

test('Google says project, zone and instance', async () => {
  expect(await read(google.sign(googlePayload(audience, onGoogle)))).toEqual({
    cloud: 'gcp',
    account: 'demo-project',
    region: 'europe-west1',
    zone: 'europe-west1-b',
    instance: 'uk-web-1',
  });
});

test('AWS says account, region and instance', async () => {
  expect(await read(aws.sign(awsPayload(aws.url, audience, onAws)))).toEqual({
    cloud: 'aws',
    account: '123456789012',
    region: 'eu-central-1',
    instance: 'i-0abc',
  });
});

test('keys are fetched once for many tokens, and made-up key ids fetch none', async () => {
  const token = google.sign(googlePayload(audience, onGoogle));
  await Promise.all([read(token), read(token), read(token)]);
  const [header = '', ...rest] = token.split('.');
  const fields = JSON.parse(Buffer.from(header, 'base64url').toString()) as object;
  for (const kid of ['a', 'b', 'c']) {
    const other = Buffer.from(JSON.stringify({ ...fields, kid })).toString('base64url');
    // oxlint-disable-next-line no-await-in-loop -- one after the other, as they come
    expect(await refusal([other, ...rest].join('.'))).toContain('no applicable key');
  }
  expect(google.calls).toBe(1);
});

describe('a token that is not the cloud’s word on who calls now is refused:', () => {
  const payload = (): JWTPayload => googlePayload(audience, onGoogle);
  const stories: [what: string, token: () => Promise<string> | string, why: string][] = [
    [
      'for another machine',
      () => google.sign(googlePayload(audienceOf('claim-2'), onGoogle)),
      '"aud"',
    ],
    ['signed by nobody', () => new UnsecuredJWT(payload()).encode(), 'Algorithm'],
    [
      'signed with the public key as a secret',
      async () =>
        new SignJWT(decodeJwt(google.sign(payload())))
          .setProtectedHeader({ alg: 'HS256', kid: google.kid })
          .sign(Buffer.from(google.publicPem)),
      '"alg"',
    ],
    ['signed by another one', () => aws.sign(payload()), '"alg"'],
    ['over', () => google.sign(payload(), { issuedAt: minutesFromNow(-6) }), '"exp"'],
    [
      'fetched 20 minutes ago, though it lasts an hour',
      () => google.sign(payload(), { issuedAt: minutesFromNow(-20), lifetime: 3600 }),
      '"iat"',
    ],
    [
      'from a clock that is 20 minutes ahead',
      () => google.sign(payload(), { issuedAt: minutesFromNow(20) }),
      '"iat"',
    ],
    [
      'of an issuer that nobody trusts',
      () => aws.sign(awsPayload('https://evil.example.com', audience, onAws)),
      'its issuer is not among those that are trusted',
    ],
    [
      'of Google’s, for a person or a program without an instance',
      () => google.sign({ ...payload(), google: undefined }),
      'it is of no instance',
    ],
    [
      'of a role that no instance has',
      () => aws.sign({ ...awsPayload(aws.url, audience, onAws), 'https://sts.amazonaws.com/': {} }),
      'it is of no instance',
    ],
    [
      'of an instance in another account than it says',
      () => {
        const said = awsPayload(aws.url, audience, onAws);
        const inner = said['https://sts.amazonaws.com/'] as object;
        const other = { ...inner, aws_account: '999999999999' };
        return aws.sign({ ...said, 'https://sts.amazonaws.com/': other });
      },
      'it is of no instance',
    ],
    ['none at all', () => 'x', 'it is no token'],
  ];
  test.each(stories)('%s', async (_, token, why) => {
    expect(await refusal(await token())).toContain(why);
  });
});

test('half a minute between the clocks is borne', async () => {
  const token = google.sign(googlePayload(audience, onGoogle), {
    issuedAt: new Date(Date.now() + 20_000),
  });
  expect(await read(token)).toMatchObject({ instance: 'uk-web-1' });
});

test('keys that cannot be fetched are nobody’s fault, and are asked for again', async () => {
  const token = google.sign(googlePayload(audience, onGoogle));
  google.failsWith = 503;
  await expect(read(token)).rejects.toThrow(KeysUnavailable);
  google.failsWith = undefined;
  expect(await read(token)).toMatchObject({ instance: 'uk-web-1' });
});

test('the caller must be the very instance that was launched', () => {
  const caller = { cloud: 'aws', account: '1', region: 'r', instance: 'i-1' } as const;
  const launched = { ...caller, zone: 'r-a' };
  expect(differenceBetween(caller, launched)).toBeUndefined();
  expect(differenceBetween({ ...caller, zone: 'r-a' }, launched)).toBeUndefined();
  expect(differenceBetween(caller, { ...launched, account: undefined })).toBeUndefined();
  for (const part of ['cloud', 'account', 'region', 'zone', 'instance'] as const) {
    const other = { ...caller, zone: 'r-a', [part]: 'other' } as typeof caller;
    expect(differenceBetween(other, launched)).toMatch(`the ${part} of the caller is other, not`);
  }
});
