import { createPublicKey, X509Certificate } from 'node:crypto';

import { expect, test } from 'vitest';

import { Authority } from './authority.ts';
import { InvalidRequest, keyOfRequest } from './certificate-request.ts';
import { newRequest, p256 } from './testing/requests.ts';

const now = { stamp: () => new Date().toISOString() };
const rsa = (modulusLength: number, hash = 'SHA-256') => ({
  name: 'RSASSA-PKCS1-v1_5',
  modulusLength,
  publicExponent: new Uint8Array([1, 0, 1]),
  hash,
});

test.each([p256, { name: 'ECDSA', namedCurve: 'P-384', hash: 'SHA-384' }, rsa(2048)])(
  'the key of a request is found: %o',
  async (algorithm) => {
    const { request } = await newRequest({ algorithm });
    const key = createPublicKey({ key: await keyOfRequest(request), format: 'der', type: 'spki' });
    expect(key.asymmetricKeyType).toBe(algorithm.name === 'ECDSA' ? 'ec' : 'rsa');
  },
);

test.each([
  ['1024 bits', rsa(1024), 'has 1024 bits, fewer than 2048'],
  ['a key that is slow to use', rsa(5120), 'has 5120 bits, more than 4096'],
  ['a weak hash', rsa(2048, 'SHA-1'), 'a weak hash'],
  ['a curve of its own', { name: 'ECDSA', namedCurve: 'P-521', hash: 'SHA-512' }, 'its curve is'],
])('a weak key gets nothing: %s', async (_, algorithm, why) => {
  const { request } = await newRequest({ algorithm });
  await expect(keyOfRequest(request)).rejects.toThrow(why);
});

test('nobody gets a certificate for a key of somebody else', async () => {
  const own = await newRequest();
  const { request } = await newRequest({ signer: own });
  await expect(keyOfRequest(request)).rejects.toThrow('not signed with the key that it asks for');
});

test('whatever is no request is refused, and no part of it is told', async () => {
  const { request } = await newRequest();
  const cut = `${request.slice(0, 120)}\n-----END CERTIFICATE REQUEST-----`;
  for (const pem of ['', 'x', cut, request.replaceAll('CERTIFICATE REQUEST', 'CERTIFICATE')]) {
    // oxlint-disable-next-line no-await-in-loop -- one small story after the other
    const error = await keyOfRequest(pem).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(InvalidRequest);
    expect((error as Error).message).not.toContain(request.slice(40, 60));
  }
});

test('a leaf for such a key has the names that the signer knows, and none that were wished for', async () => {
  const { request } = await newRequest({ names: ['api.victim.example.com', '*.example.com'] });
  const authority = await Authority.create(now, { commonName: 'demo', validity: 86_400_000 });
  const wanted = { names: ['api.web.example.com'], validity: 3_600_000 };
  const pem = await authority.certify(wanted, await keyOfRequest(request));
  const leaf = new X509Certificate(pem);
  expect(leaf.subjectAltName).toBe('DNS:api.web.example.com');
  expect(leaf.subject).toBe('CN=api.web.example.com');
  expect(leaf.verify(new X509Certificate(authority.pem.certificate).publicKey)).toBe(true);
  expect(leaf.publicKey.export({ type: 'spki', format: 'der' })).toEqual(
    await keyOfRequest(request),
  );
});
