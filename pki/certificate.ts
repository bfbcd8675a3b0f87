import { createPrivateKey, X509Certificate } from 'node:crypto';

/** A certificate (or chain, leaf first) and its private key, as a `kubernetes.io/tls` Secret holds them. */
export interface PemPair {
  readonly certificate: string;
  readonly privateKey: string;
}

/** A certificate or key that cannot serve its purpose; the message says why, without any key material. */
export class InvalidCertificate extends Error {}

/** A peer's clock may lag; a certificate that is valid "from now" would be refused for that long. Milliseconds. */
export const clockSkew = 5 * 60_000;

export interface Expectation {
  /** RFC 3339; the certificate must be valid then. */
  readonly at: string;
  /** It must be allowed to sign others. */
  readonly authority?: boolean;
  /** It must be good for each of these DNS names, as Go's clients judge it too: not by its subject, wildcards by whole labels. */
  readonly names?: readonly string[];
  /** Milliseconds that it must be valid for after `at`. */
  readonly left?: number;
}

const strictly = { subject: 'never', partialWildcards: false } as const;

/** What is wrong with a pair for this purpose, as the end of a sentence; undefined when nothing is. */
export function certificateProblem(pair: PemPair, expected: Expectation): string | undefined {
  const certificate = tryTo(() => new X509Certificate(pair.certificate));
  if (!certificate) return 'the certificate is not PEM that can be read';
  const key = tryTo(() => createPrivateKey(pair.privateKey));
  if (!key) return 'the private key is not PEM that can be read';
  if (!certificate.checkPrivateKey(key))
    return 'the private key does not belong to the certificate';
  const untimely = problemOfTime(certificate, expected);
  if (untimely !== undefined) return untimely;
  if (expected.authority && !certificate.ca)
    return 'the certificate may not sign others (CA:FALSE)';
  const missing = expected.names?.find((name) => !certificate.checkHost(name, strictly));
  return missing === undefined ? undefined : `the certificate does not cover ${missing}`;
}

function problemOfTime(
  { validFrom, validFromDate, validTo, validToDate }: X509Certificate,
  { at, left = 0 }: Expectation,
): string | undefined {
  const now = Date.parse(at);
  if (validFromDate.getTime() > now) return `the certificate is not valid before ${validFrom}`;
  const rest = validToDate.getTime() - now;
  if (rest <= 0) return `the certificate ended on ${validTo}`;
  return rest < left ? `the certificate ends already on ${validTo}` : undefined;
}

/**
 * When the first certificate in `pem` ends, as RFC 3339 for `clock.from`.
 * @throws InvalidCertificate when it cannot be read
 */
export function endOf(pem: string): string {
  const certificate = tryTo(() => new X509Certificate(pem));
  if (!certificate) throw new InvalidCertificate('the certificate is not PEM that can be read');
  return certificate.validToDate.toISOString();
}

/**
 * When two thirds of the life of the first certificate in `pem` are over, as RFC 3339 for `clock.from`: early enough for
 * many tries to get the next one.
 * @throws InvalidCertificate when it cannot be read
 */
export function renewalOf(pem: string): string {
  const end = Date.parse(endOf(pem));
  const start = new X509Certificate(pem).validFromDate.getTime() + clockSkew;
  return new Date(end - (end - start) / 3).toISOString();
}

/** The certificates in a file or bundle, in its order, each as PEM that ends with a newline. */
export function certificatesIn(pem: string): string[] {
  const found = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return found.map((one) => `${one}\n`);
}

/** Undefined where it throws. */
export function tryTo<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}
