import { SignJWT, UnsecuredJWT, decodeJwt, importJWK } from 'jose';
import { beforeAll, expect, test } from 'vitest';

import {
  mintToken,
  newSigningKey,
  readToken,
  type OneTimeToken,
  type SigningKey,
} from './one-time-token.ts';
import { BootstrapRefused } from './refusal.ts';
import { endOfToken, keyIdOf } from './unproven.ts';

const minted: OneTimeToken = {
  clusterUid: 'cluster-1',
  claimUid: 'claim-1',
  url: 'https://bootstrap.example.com',
  id: 'once',
};
const from = Date.parse('2030-01-01T00:00:00Z') / 1000;
const lifetime = { from, until: from + 900 };
const after = (seconds: number): string => new Date((from + seconds) * 1000).toISOString();

let key: SigningKey;
let other: SigningKey;
let token: string;
beforeAll(async () => {
  [key, other] = await Promise.all([newSigningKey(), newSigningKey()]);
  token = await mintToken(minted, lifetime, key);
});

const read = async (text: string, keys = [other, key], at = after(60), clusterUid = 'cluster-1') =>
  readToken(text, keys, { clusterUid, at });

async function refusal(...asked: Parameters<typeof read>): Promise<string> {
  const error = await read(...asked).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(BootstrapRefused);
  expect(error).toMatchObject({ kind: 'token' });
  expect(String(error)).not.toContain(asked[0].slice(-12) || 'nothing');
  return (error as Error).message;
}

test('what was minted is read, by whichever of our keys, and holds nothing else', async () => {
  expect(await read(token)).toEqual(minted);
  expect(keyIdOf(token)).toBe(key.kid);
  expect(endOfToken(token)).toBe(lifetime.until * 1000);
  expect([keyIdOf('x.y'), endOfToken('x.y')]).toEqual([undefined, 0]);
  expect(Object.keys(decodeJwt(token)).toSorted()).toEqual(
    ['aud', 'exp', 'iat', 'iss', 'jti', 'sub'].toSorted(),
  );
});

test('it counts to its end, and half a minute longer for clocks that differ', async () => {
  expect(await read(token, [key], after(-20))).toEqual(minted);
  expect(await read(token, [key], after(920))).toEqual(minted);
  expect(await refusal(token, [key], after(931))).toBe('the time of the token is over');
  await expect(read(token, [key], after(931))).rejects.toMatchObject({ claimUid: 'claim-1' });
});

test('none lasts longer than a quarter of an hour, or comes from the future', async () => {
  const long = await mintToken(minted, { from, until: from + 86_400 }, key);
  expect(await read(long, [key], after(800))).toEqual(minted);
  expect(await refusal(long, [key], after(1000))).toBe('the time of the token is over');
  const later = await mintToken(minted, { from: from + 1200, until: from + 2100 }, key);
  expect(await refusal(later, [key], after(0))).toContain('"iat"');
});

test('one of another cluster, or signed with another key, is none', async () => {
  expect(await refusal(token, [key], after(60), 'cluster-2')).toContain('"iss"');
  expect(await refusal(token, [other])).toBe('the token is signed with no key of ours');
  const forged = await mintToken(minted, lifetime, { ...other, kid: key.kid });
  expect(await refusal(forged)).toContain('signature');
});

test('no algorithm, or the public key as the secret of an HMAC, convinces nobody', async () => {
  const payload = decodeJwt(token);
  const none = new UnsecuredJWT(payload).encode();
  expect(await refusal(none)).toBe('the token is signed with no key of ours');
  const header = { alg: 'HS256', typ: 'unikraft-bootstrap+jwt', kid: key.kid };
  const { d: _, ...known } = key;
  const secret = Buffer.from(JSON.stringify(known));
  expect(
    await refusal(await new SignJWT(payload).setProtectedHeader(header).sign(secret)),
  ).toContain('"alg"');
  const [, body, signature] = token.split('.');
  const unsigned = Buffer.from(JSON.stringify({ ...header, alg: 'none' })).toString('base64url');
  expect(await refusal(`${unsigned}.${body}.${signature}`)).toContain('"alg"');
});

test('another token that our key may sign is not taken for one', async () => {
  const signer = await importJWK(key, 'ES256');
  const header = { alg: 'ES256', typ: 'JWT', kid: key.kid };
  const text = await new SignJWT(decodeJwt(token)).setProtectedHeader(header).sign(signer);
  expect(await refusal(text)).toContain('"typ"');
});

test('whatever is no token is refused as one', async () => {
  const texts = ['', 'x', 'a.b.c', '..', `${token}.`, token.slice(0, -3), '{"kid":1}'];
  const messages = await Promise.all(texts.map(async (text) => refusal(text)));
  expect(messages.filter((message) => !/token/.test(message))).toEqual([]);
});
