// x509 keeps its algorithms in a container that needs this first; the blank line keeps the sorter away.
import 'reflect-metadata';
import { createPublicKey, type KeyObject } from 'node:crypto';

import * as x509 from '@peculiar/x509';

/** A certificate request that nothing may be signed for; the message says why, and holds no part of it. */
export class InvalidRequest extends Error {
  override readonly name = 'InvalidRequest';
}

const curves: ReadonlySet<string> = new Set(['prime256v1', 'secp384r1']);
/** Bits. Below, a key can be broken; above, one handshake keeps a server busy. */
const rsa = { least: 2048, most: 4096 };
const hashes: ReadonlySet<string> = new Set(['SHA-256', 'SHA-384', 'SHA-512']);

/**
 * The public key (SPKI, DER) that a PKCS#10 request asks a certificate for, once it is proven that whoever asks has the
 * private one. Everything else in the request is a wish of somebody unknown, and is not handed on.
 *
 * @throws InvalidRequest unless it is one in PEM, signed with its own key, and the key is strong enough
 */
export async function keyOfRequest(pem: string): Promise<Buffer> {
  const request = read(pem);
  const key = Buffer.from(request.publicKey.rawData);
  const problem = weakness(publicKeyOf(key)) ?? weakHash(request);
  if (problem !== undefined) throw new InvalidRequest(problem);
  if (await isSignedByItsKey(request)) return key;
  throw new InvalidRequest('the request is not signed with the key that it asks for');
}

function read(pem: string): x509.Pkcs10CertificateRequest {
  if (!pem.trimStart().startsWith('-----BEGIN CERTIFICATE REQUEST-----')) {
    throw new InvalidRequest('it is no certificate request in PEM');
  }
  try {
    return new x509.Pkcs10CertificateRequest(pem);
  } catch (cause) {
    throw new InvalidRequest('it is no certificate request that can be read', { cause });
  }
}

function publicKeyOf(der: Buffer): KeyObject {
  try {
    return createPublicKey({ key: der, format: 'der', type: 'spki' });
  } catch (cause) {
    throw new InvalidRequest('its public key cannot be read', { cause });
  }
}

function weakness(key: KeyObject): string | undefined {
  if (key.asymmetricKeyType === 'ec') {
    const isKnown = curves.has(key.asymmetricKeyDetails?.namedCurve ?? '');
    return isKnown ? undefined : 'its curve is not P-256 or P-384';
  }
  return key.asymmetricKeyType === 'rsa' ? rsaWeakness(key) : 'its key is neither EC nor RSA';
}

function rsaWeakness({ asymmetricKeyDetails = {} }: KeyObject): string | undefined {
  const { modulusLength = 0, publicExponent = 0n } = asymmetricKeyDetails;
  if (modulusLength < rsa.least) return `its RSA key has ${modulusLength} bits, fewer than 2048`;
  if (modulusLength > rsa.most) return `its RSA key has ${modulusLength} bits, more than 4096`;
  return publicExponent < 65_537n ? 'the exponent of its RSA key is too small' : undefined;
}

function weakHash({ signatureAlgorithm }: x509.Pkcs10CertificateRequest): string | undefined {
  const { name } = signatureAlgorithm.hash ?? {};
  return name !== undefined && hashes.has(name) ? undefined : 'it is signed with a weak hash';
}

async function isSignedByItsKey(request: x509.Pkcs10CertificateRequest): Promise<boolean> {
  try {
    return await request.verify();
  } catch {
    return false; // a signature that is none makes the verification fail, rather than say no
  }
}
