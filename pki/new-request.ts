// x509 keeps its algorithms in a container that needs this first; the blank line keeps the sorter away.
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';

import * as x509 from '@peculiar/x509';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/**
 * A new key (ECDSA P-256, PKCS#8 PEM) and the request for a certificate of these DNS names for it.
 *
 * @returns the request as DER
 */
export async function newRequest(
  names: readonly string[],
): Promise<{ privateKey: string; csr: Buffer }> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.SubjectAlternativeNameExtension(
        names.map((value) => ({ type: 'dns' as const, value })),
      ),
    ],
  });
  return { privateKey: await exportedKey(keys), csr: Buffer.from(request.rawData) };
}

/** A new key (ECDSA P-256) as PKCS#8 PEM. */
export async function newKey(): Promise<string> {
  return exportedKey(await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']));
}

async function exportedKey({ privateKey }: webcrypto.CryptoKeyPair): Promise<string> {
  const pkcs8 = await webcrypto.subtle.exportKey('pkcs8', privateKey);
  return x509.PemConverter.encode(pkcs8, 'PRIVATE KEY');
}
