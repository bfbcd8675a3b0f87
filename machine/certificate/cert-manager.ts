import {
  certificates,
  type CertManagerCertificate,
  type IssuerRef,
} from '#schemas/kubernetes/cert-manager.ts';
import type { Condition, ObjectMeta } from '#schemas/kubernetes/meta.ts';
import { apiVersionOf } from '#schemas/kubernetes/resource.ts';
import { hours, type Duration } from '#schemas/time/clock.ts';

/** cert-manager takes nothing shorter. */
const shortest: Duration = hours(1);

export interface CertificateOrder {
  readonly namespace: string;
  /** The machine's short name. */
  readonly machine: string;
  readonly names: readonly string[];
  /** Infinity for as long as the issuer likes. */
  readonly validity: Duration;
  readonly issuerRef: IssuerRef;
  /** On the Certificate, and on the Secret that cert-manager makes of it. */
  readonly labels: Readonly<Record<string, string>>;
}

/** The name of a machine's Certificate and of the Secret that cert-manager puts it into. */
export const certificateName = (machine: string): string => `${machine}-tls`;

/**
 * The Certificate to ask cert-manager for. It is for a machine that cannot change its certificate, so it is renewed as late as
 * cert-manager can: what the renewal gave would be of no use.
 */
export function certificateFor(order: CertificateOrder): CertManagerCertificate {
  const { namespace, machine, names, validity, issuerRef, labels } = order;
  const name = certificateName(machine);
  return {
    apiVersion: apiVersionOf(certificates),
    kind: certificates.kind,
    metadata: { name, namespace, labels: { ...labels } },
    spec: {
      secretName: name,
      secretTemplate: { labels: { ...labels } },
      dnsNames: [...names],
      ...(Number.isFinite(validity) && { duration: goText(Math.max(validity, shortest)) }),
      renewBefore: '5m',
      usages: ['digital signature', 'server auth'],
      privateKey: { algorithm: 'ECDSA', size: 256, encoding: 'PKCS8', rotationPolicy: 'Always' },
      issuerRef,
    },
  };
}

/** How far cert-manager is: `issued`, or what it says, and whether that was a failure. */
export type Progress =
  | { readonly kind: 'issued' }
  | { readonly kind: 'under-way' | 'failed'; readonly message: string };

/**
 * What the conditions of a Certificate say.
 *
 * Source: cert-manager's documentation of the Certificate resource: Ready=True once the Secret holds what was asked for;
 * Issuing=False with reason Failed after an attempt that failed, which is repeated after an hour at first.
 */
export function progressOf({ metadata, status }: CertManagerCertificate): Progress {
  const find = (type: string) => status?.conditions?.find((condition) => condition.type === type);
  const [ready, issuing] = [find('Ready'), find('Issuing')];
  if (ready?.status === 'True' && isCurrent(ready, metadata)) return { kind: 'issued' };
  if (issuing?.status === 'False' && issuing.reason === 'Failed') {
    return { kind: 'failed', message: said(issuing) };
  }
  return { kind: 'under-way', message: said(issuing ?? ready) };
}

function isCurrent({ observedGeneration = 0 }: Condition, metadata: ObjectMeta = {}): boolean {
  return observedGeneration >= (metadata.generation ?? 0);
}

function said(condition: Condition | undefined): string {
  const { message = '' } = condition ?? {};
  return message === '' ? 'cert-manager has not begun' : `cert-manager says: ${message}`;
}

/** Whole seconds, as Go's ParseDuration reads them. */
function goText(duration: Duration): string {
  return `${Math.ceil(duration / 1000)}s`;
}
