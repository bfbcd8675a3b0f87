import { createHash, X509Certificate } from 'node:crypto';
import { rootCertificates } from 'node:tls';

import { certificatesIn, tryTo } from './certificate.ts';

/**
 * What is wrong with the order of a chain, as the end of a sentence; undefined when each certificate is signed by the
 * one after it, as TLS servers have to send them (RFC 8446 §4.4.2).
 *
 * @param pem  the leaf first
 */
export function chainProblem(pem: string): string | undefined {
  const chain = read(pem);
  if (chain.length === 0 || chain.length < certificatesIn(pem).length) {
    return 'a certificate of the chain cannot be read';
  }
  const broken = chain.findIndex((one, index) => {
    const next = chain[index + 1];
    return next !== undefined && !isSignedBy(one, next);
  });
  if (broken === -1) return undefined;
  return `certificate ${broken + 2} of the chain did not sign certificate ${broken + 1}; put the leaf first, then each signer`;
}

/**
 * The authorities that make a chain believed: those given, or the public ones that this program was built with. Whoever
 * trusts them alone believes the chain, and nobody else's.
 *
 * @param pem  the leaf first, in order
 * @param given  PEM of the authorities that clients are to trust; the public ones where it is empty
 * @returns PEM, empty when none of them signed the last certificate of the chain, nor is it
 */
export function anchorsOf(pem: string, given: string): string {
  const last = read(pem).at(-1);
  if (!last) return '';
  const candidates = given.trim() === '' ? publicRoots() : certificatesIn(given);
  return candidates.filter((one) => read(one).some((root) => anchors(root, last))).join('');
}

/** Which certificate it is: SHA-256 of the first one in `pem`, in hex. */
export function certificatePrint(pem: string): string {
  const [first] = read(pem);
  return createHash('sha256')
    .update(first?.raw ?? '')
    .digest('hex');
}

/** Those that can be read. */
function read(pem: string): X509Certificate[] {
  return certificatesIn(pem).flatMap((one) => tryTo(() => new X509Certificate(one)) ?? []);
}

function publicRoots(): string[] {
  return rootCertificates.flatMap(certificatesIn);
}

function anchors(authority: X509Certificate, last: X509Certificate): boolean {
  return authority.fingerprint256 === last.fingerprint256 || isSignedBy(last, authority);
}

/** The name is looked at first, since a signature costs a thousand times as much to check. */
function isSignedBy(certificate: X509Certificate, by: X509Certificate): boolean {
  return certificate.checkIssued(by) && certificate.verify(by.publicKey);
}
