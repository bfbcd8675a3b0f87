import 'reflect-metadata';
import { webcrypto } from 'node:crypto';

import * as x509 from '@peculiar/x509';

export const p256 = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

type Algorithm = Parameters<typeof webcrypto.subtle.generateKey>[0] & { readonly hash: string };

export interface Asked {
  /** PEM, PKCS#10. */
  readonly request: string;
  readonly keys: webcrypto.CryptoKeyPair;
}

/** A certificate request as a machine makes it, for whatever names it wishes to have. */
export async function newRequest(
  options: { algorithm?: Algorithm; names?: readonly string[]; signer?: Asked } = {},
): Promise<Asked> {
  const { algorithm = p256, names = [] } = options;
  const keys = (await webcrypto.subtle.generateKey(algorithm, true, [
    'sign',
    'verify',
  ])) as webcrypto.CryptoKeyPair;
  const signed = options.signer ?? { keys };
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: 'CN=whoever',
    // x509 signs with the one and puts the other in: as somebody does who has copied a public key
    keys: { publicKey: keys.publicKey, privateKey: signed.keys.privateKey },
    signingAlgorithm: algorithm,
    extensions: [
      new x509.SubjectAlternativeNameExtension(names.map((value) => ({ type: 'dns', value }))),
    ],
  });
  return { request: request.toString('pem'), keys };
}
