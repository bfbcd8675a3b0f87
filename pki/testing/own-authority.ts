// x509 keeps its algorithms in a container that needs this first; the blank line keeps the sorter away.
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';

import * as x509 from '@peculiar/x509';

import type { PemPair } from '../certificate.ts';

export type KeyKind = 'RSA' | 'P-384' | 'Ed25519';

const rsa = {
  name: 'RSASSA-PKCS1-v1_5',
  hash: 'SHA-256',
  modulusLength: 2048,
  publicExponent: new Uint8Array([1, 0, 1]),
};

/** An authority as a user would bring it, with a kind of key that we do not make ourselves. */
export async function ownAuthority(kind: KeyKind): Promise<PemPair> {
  const keys = await newKeys(kind);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=own',
    notAfter: new Date(Date.now() + 86_400_000),
    keys,
    signingAlgorithm: { name: keys.privateKey.algorithm.name, hash: 'SHA-256' },
    extensions: [new x509.BasicConstraintsExtension(true, undefined, true)],
  });
  const pkcs8 = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  return {
    certificate: certificate.toString('pem'),
    privateKey: x509.PemConverter.encode(pkcs8, 'PRIVATE KEY'),
  };
}

async function newKeys(kind: KeyKind): Promise<webcrypto.CryptoKeyPair> {
  if (kind === 'RSA') return webcrypto.subtle.generateKey(rsa, true, ['sign', 'verify']);
  const algorithm = kind === 'Ed25519' ? kind : { name: 'ECDSA', namedCurve: kind };
  return (await webcrypto.subtle.generateKey(algorithm, true, [
    'sign',
    'verify',
  ])) as webcrypto.CryptoKeyPair;
}
