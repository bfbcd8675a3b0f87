import type { Authority } from '#pki/authority.ts';

import { AcmeCertificates } from '../certificates/acme/acme.ts';
import { CertManagerCertificates } from '../certificates/cert-manager.ts';
import { Certificates } from '../certificates/certificates.ts';
import { GivenCertificates } from '../certificates/given.ts';
import { PrivateCa } from '../certificates/private-ca.ts';
import type { Context } from '../context.ts';

/** Authorities that nobody has named a zone for. */
export function acmeOf({
  client,
  namespace,
  clock,
}: Pick<Context, 'client' | 'namespace' | 'clock'>): AcmeCertificates {
  const dns = async (): Promise<never> => {
    throw new Error('this world has no zone for challenges');
  };
  return new AcmeCertificates({
    client,
    namespace,
    clock,
    clouds: { dns },
    textsAt: async () => [],
  });
}

/** Certificates as the operator makes them, with one authority for all node classes. */
export function certificatesOf(
  { client, namespace, clock }: Pick<Context, 'client' | 'namespace' | 'clock'>,
  authority: Authority,
): Certificates {
  return new Certificates({
    PrivateCA: new PrivateCa(async () => authority),
    ACME: acmeOf({ client, namespace, clock }),
    SecretRef: new GivenCertificates(client, namespace, clock),
    CertManager: new CertManagerCertificates(client, namespace, clock),
  });
}
