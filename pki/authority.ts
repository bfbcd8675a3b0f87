// x509 keeps its algorithms in a container that needs this first; the blank line keeps the sorter away.
import 'reflect-metadata';
import { createPrivateKey, type KeyObject, randomBytes, webcrypto } from 'node:crypto';

import * as x509 from '@peculiar/x509';

import { certificateProblem, clockSkew, InvalidCertificate, type PemPair } from './certificate.ts';

/** The real time, as Kubernetes writes it: peers judge validity by their own clocks, so a moved clock must not count. */
export interface RealTime {
  stamp(): string;
}

export interface LeafRequest {
  /** DNS names, wildcards allowed. The first one is the subject. */
  readonly names: readonly string[];
  /** IP addresses, seldom needed: addresses are not known when a machine's leaf is made. */
  readonly addresses?: readonly string[];
  /** Milliseconds; cut to the authority's own end. */
  readonly validity: number;
  /** Default: `server`. */
  readonly purpose?: 'server' | 'client';
}

const purposes = {
  server: x509.ExtendedKeyUsage.serverAuth,
  client: x509.ExtendedKeyUsage.clientAuth,
} as const;
const leafAlgorithm = { name: 'ECDSA', namedCurve: 'P-256' };

/**
 * A certificate authority whose key is at hand: it signs server leaves (ECDSA P-256), each with its own key.
 *
 * It signs with whatever key it was given (EC or RSA), since users bring their own.
 */
export class Authority {
  /** The authority itself, for the Secret that keeps it. The certificate alone is what clients trust. */
  readonly pem: PemPair;
  readonly #certificate: x509.X509Certificate;
  readonly #key: webcrypto.CryptoKey;
  readonly #hash: string;
  readonly #time: RealTime;

  private constructor(pem: PemPair, key: webcrypto.CryptoKey, hash: string, time: RealTime) {
    this.pem = pem;
    this.#certificate = new x509.X509Certificate(pem.certificate);
    this.#key = key;
    this.#hash = hash;
    this.#time = time;
  }

  /** A new self-signed authority that may sign leaves only. `validity` in milliseconds. */
  static async create(
    time: RealTime,
    options: { commonName: string; validity: number },
  ): Promise<Authority> {
    const keys = await generateKeys();
    const now = Date.parse(time.stamp());
    const certificate = await x509.X509CertificateGenerator.createSelfSigned({
      serialNumber: randomSerial(),
      name: [{ CN: [options.commonName] }],
      notBefore: new Date(now - clockSkew),
      notAfter: new Date(now + options.validity),
      signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
      keys,
      extensions: [
        new x509.BasicConstraintsExtension(true, 0, true),
        new x509.KeyUsagesExtension(
          x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign,
          true,
        ),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      ],
    });
    const pem = { certificate: certificate.toString('pem'), privateKey: await exportKey(keys) };
    return new Authority(pem, keys.privateKey, 'SHA-256', time);
  }

  /**
   * The authority that a Secret keeps. Of a chain, the first certificate signs.
   * @throws InvalidCertificate unless both parse, belong together, and the certificate may sign others and is not over
   */
  static load(pem: PemPair, time: RealTime): Authority {
    const problem = certificateProblem(pem, { at: time.stamp(), authority: true });
    if (problem !== undefined) throw new InvalidCertificate(problem);
    const { key, hash } = signingKey(createPrivateKey(pem.privateKey));
    return new Authority(pem, key, hash, time);
  }

  /** Signs a new leaf; its key is made here and kept nowhere else. */
  async issue(request: LeafRequest): Promise<PemPair> {
    const keys = await generateKeys();
    const certificate = await this.#sign(request, new x509.PublicKey(await exportSpki(keys)));
    return { certificate, privateKey: await exportKey(keys) };
  }

  /**
   * Signs a leaf for a key that somebody else keeps; what it says comes from `request` alone.
   *
   * @param publicKey SPKI, DER
   * @returns PEM
   */
  async certify(request: LeafRequest, publicKey: Buffer): Promise<string> {
    return this.#sign(request, new x509.PublicKey(Uint8Array.from(publicKey)));
  }

  async #sign(request: LeafRequest, publicKey: x509.PublicKey): Promise<string> {
    const now = Date.parse(this.#time.stamp());
    const end = Math.min(now + request.validity, this.#certificate.notAfter.getTime());
    const certificate = await x509.X509CertificateGenerator.create({
      serialNumber: randomSerial(),
      subject: subjectOf(request),
      issuer: this.#certificate.subjectName,
      notBefore: new Date(now - clockSkew),
      notAfter: new Date(end),
      publicKey,
      signingKey: this.#key,
      signingAlgorithm: { name: this.#key.algorithm.name, hash: this.#hash },
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([purposes[request.purpose ?? 'server']]),
        new x509.SubjectAlternativeNameExtension([
          ...request.names.map((value) => ({ type: 'dns' as const, value })),
          ...(request.addresses ?? []).map((value) => ({ type: 'ip' as const, value })),
        ]),
        await x509.SubjectKeyIdentifierExtension.create(publicKey),
        await x509.AuthorityKeyIdentifierExtension.create(this.#certificate.publicKey),
      ],
    });
    return certificate.toString('pem');
  }
}

async function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(leafAlgorithm, true, ['sign', 'verify']);
}

async function exportSpki({ publicKey }: webcrypto.CryptoKeyPair): Promise<ArrayBuffer> {
  return webcrypto.subtle.exportKey('spki', publicKey);
}

async function exportKey(keys: webcrypto.CryptoKeyPair): Promise<string> {
  const pkcs8 = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  return x509.PemConverter.encode(pkcs8, 'PRIVATE KEY');
}

/** A common name has room for 64 characters (RFC 5280, ub-common-name); a longer name stands in the SANs alone. */
function subjectOf({ names, addresses }: LeafRequest): string | { CN: string[] }[] {
  const first = names[0] ?? addresses?.[0];
  return first === undefined || first.length > 64 ? '' : [{ CN: [first] }];
}

/** 127 random bits, positive and without leading zero byte, as CAs use (RFC 5280 §4.1.2.2 allows up to 20 octets). */
function randomSerial(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return bytes.toString('hex');
}

const curves: Readonly<Record<string, { namedCurve: string; hash: string }>> = {
  prime256v1: { namedCurve: 'P-256', hash: 'SHA-256' },
  secp384r1: { namedCurve: 'P-384', hash: 'SHA-384' },
  secp521r1: { namedCurve: 'P-521', hash: 'SHA-512' },
};

function signingKey(key: KeyObject): { key: webcrypto.CryptoKey; hash: string } {
  if (key.asymmetricKeyType === 'rsa') {
    const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
    return { key: key.toCryptoKey(algorithm, false, ['sign']), hash: 'SHA-256' };
  }
  const curve = curves[key.asymmetricKeyDetails?.namedCurve ?? ''];
  if (key.asymmetricKeyType !== 'ec' || !curve) {
    throw new InvalidCertificate(
      `the key is of type ${key.asymmetricKeyType}; RSA, P-256, P-384 and P-521 can sign here`,
    );
  }
  const algorithm = { name: 'ECDSA', namedCurve: curve.namedCurve };
  return { key: key.toCryptoKey(algorithm, false, ['sign']), hash: curve.hash };
}
