import { generateKeyPairSync, randomBytes } from 'node:crypto';

import fc from 'fast-check';
import { expect, test } from 'vitest';

import { KnownSecrets } from './known-secrets.ts';

const token = 'tJ8f0Qm3VbXr5yZkLw9aHdPe2sNuGc1i';

function knowing(value: string): KnownSecrets {
  const known = new KnownSecrets();
  known.add('the secret', value);
  return known;
}

test('a token is found as it is, and is never shown', () => {
  const told = knowing(token).in(`{"msg":"refused with ${token}"}`, 'log of controller');
  expect(told).toEqual([{ secret: 'the secret', where: 'log of controller' }]);
  expect(JSON.stringify(told)).not.toContain(token.slice(0, 8));
});

test('either end of it is enough: messages are cut', () => {
  expect(knowing(token).in(`… ${token.slice(0, 26)}`, '')).toHaveLength(1);
  expect(knowing(token).in(`${token.slice(-26)} …`, '')).toHaveLength(1);
});

test('a private key is found by any of its lines, however its line ends are written', () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  expect(knowing(pem).in(JSON.stringify({ pem }), '')).toHaveLength(1);
  expect(knowing(pem).in(`key: ${pem.split('\n')[1]}`, '')).toHaveLength(1);
  expect(knowing(pem).in('-----BEGIN PRIVATE KEY-----', '')).toEqual([]);
});

test('certificates, addresses and short words are no secrets', () => {
  const known = new KnownSecrets();
  const certificate = `-----BEGIN CERTIFICATE-----\n${'QUJD'.repeat(16)}\n-----END CERTIFICATE-----\n`;
  for (const value of [certificate, 'https://api.web.example.com:8443', 'kraftlet', '']) {
    known.add('no secret', value);
    expect(known.in(`of ${value}`, '')).toEqual([]);
  }
});

test('in base64 it is found at any place of any text, in both alphabets', () => {
  const text = fc.string({ unit: 'binary', maxLength: 40 });
  fc.assert(
    fc.property(text, text, fc.constantFrom('base64', 'base64url'), (before, after, alphabet) => {
      const secret = randomBytes(24).toString('base64url');
      const encoded = Buffer.from(`${before}${secret}${after}`).toString(alphabet);
      expect(knowing(secret).in(encoded, '')).toHaveLength(1);
    }),
  );
});

test('it is not found where it is not', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 400 }), (text) => {
      expect(knowing(randomBytes(24).toString('base64url')).in(text, '')).toEqual([]);
    }),
  );
});
