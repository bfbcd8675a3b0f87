import type { Authority } from '#pki/authority.ts';

import { CertManagerCertificates } from '../certificates/cert-manager.ts';
import { Certificates } from '../certificates/certificates.ts';
import { GivenCertificates } from '../certificates/given.ts';
import { PrivateCa } from '../certificates/private-ca.ts';
import type { Context } from '../context.ts';

/** Certificates as the operator makes them, with one authority for all node classes. */
export function certificatesOf(
  { client, namespace, clock }: Pick<Context, 'client' | 'namespace' | 'clock'>,
  authority: Authority,
): Certificates {
  return new Certificates({
    PrivateCA: new PrivateCa(async () => authority),
    SecretRef: new GivenCertificates(client, namespace, clock),
    CertManager: new CertManagerCertificates(client, namespace, clock),
  });
}
