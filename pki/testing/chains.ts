// x509 keeps its algorithms in a container that needs this first; the blank line keeps the sorter away.
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';

import * as x509 from '@peculiar/x509';

import type { RealTime } from '../authority.ts';
import type { PemPair } from '../certificate.ts';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
const day = 86_400_000;

/** One certificate with its key. */
interface Made {
  readonly certificate: x509.X509Certificate;
  readonly keys: webcrypto.CryptoKeyPair;
}

/** A leaf as public authorities give it: signed by an authority that a root signed. */
export interface Chain {
  readonly root: string;
  readonly intermediate: string;
  /** The leaf alone. */
  readonly leaf: PemPair;
  /** The leaf and what signed it. */
  readonly whole: PemPair;
}

/** @param validity  of the leaf, in milliseconds from now */
export async function newChain(
  time: RealTime,
  names: readonly string[],
  validity = 90 * day,
): Promise<Chain> {
  const now = Date.parse(time.stamp());
  const root = await sign('root', undefined, { now, validity: 3650 * day });
  const intermediate = await sign('intermediate', root, { now, validity: 1000 * day });
  const leaf = await sign('leaf', intermediate, { now, validity, names });
  const pkcs8 = await webcrypto.subtle.exportKey('pkcs8', leaf.keys.privateKey);
  const privateKey = x509.PemConverter.encode(pkcs8, 'PRIVATE KEY');
  const [first, second, third] = [leaf, intermediate, root].map(
    ({ certificate }) => `${certificate.toString('pem')}\n`,
  ) as [string, string, string];
  return {
    root: third,
    intermediate: second,
    leaf: { certificate: first, privateKey },
    whole: { certificate: first + second, privateKey },
  };
}

async function sign(
  name: string,
  by: Made | undefined,
  { now, validity, names }: { now: number; validity: number; names?: readonly string[] },
): Promise<Made> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.create({
    subject: `CN=${name}`,
    issuer: by?.certificate.subject ?? `CN=${name}`,
    notBefore: new Date(now - 60_000),
    notAfter: new Date(now + validity),
    publicKey: keys.publicKey,
    signingKey: (by?.keys ?? keys).privateKey,
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
    extensions: [
      new x509.BasicConstraintsExtension(!names, undefined, true),
      ...(names
        ? [
            new x509.SubjectAlternativeNameExtension(
              names.map((value) => ({ type: 'dns' as const, value })),
            ),
          ]
        : []),
    ],
  });
  return { certificate, keys };
}
