import type { KubeClient } from '#kube/client/client.ts';
import { isNotFound } from '#kube/client/errors.ts';
import { setCondition } from '#kube/conditions.ts';
import type { ConditionChange } from '#kube/conditions.ts';
import type { Authority } from '#pki/authority.ts';
import { certificates, type CertManagerCertificate } from '#schemas/kubernetes/cert-manager.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { secrets } from '#schemas/kubernetes/resource.ts';
import { hours } from '#schemas/time/clock.ts';

/**
 * What cert-manager does with a Certificate, as far as its users see: it signs, puts what it made into a Secret that outlives the
 * Certificate, and says so in conditions.
 */
export class CertManagerStandIn {
  readonly #client: KubeClient;
  readonly #authority: Authority;
  /** What an issuer that refuses says, while it does. */
  refusal: string | undefined;

  constructor(client: KubeClient, authority: Authority) {
    this.#client = client;
    this.#authority = authority;
  }

  /** One look at all Certificates. */
  async act(): Promise<void> {
    const { items } = await this.#client.list(certificates);
    for (const item of items) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await this.#issue(item).catch((error: unknown) => {
        if (!isNotFound(error)) throw error; // its machine is gone
      });
    }
  }

  async #issue(certificate: Live<CertManagerCertificate>): Promise<void> {
    const { conditions = [] } = certificate.status ?? {};
    if (conditions.some(({ type, status }) => type === 'Ready' && status === 'True')) return;
    if (this.refusal !== undefined) {
      const failed = { type: 'Issuing', status: 'False', reason: 'Failed', message: this.refusal };
      return this.#say(certificate, failed as ConditionChange);
    }
    await this.#put(certificate);
    await this.#say(certificate, { type: 'Ready', status: 'True', reason: 'Ready' });
  }

  async #put({ metadata, spec }: Live<CertManagerCertificate>): Promise<void> {
    const leaf = await this.#authority.issue({ names: spec.dnsNames, validity: hours(48) });
    const data = {
      'tls.crt': leaf.certificate,
      'tls.key': leaf.privateKey,
      'ca.crt': this.#authority.pem.certificate,
    };
    const encoded = Object.entries(data).map(([key, text]) => [key, btoa(text)]);
    await this.#client.create(secrets, {
      metadata: {
        name: spec.secretName,
        namespace: metadata.namespace ?? '',
        labels: spec.secretTemplate?.labels ?? {},
      },
      type: 'kubernetes.io/tls',
      data: Object.fromEntries(encoded),
    });
  }

  async #say({ metadata, status }: Live<CertManagerCertificate>, change: ConditionChange) {
    const { name, namespace = '', generation = 1 } = metadata;
    const scope = { generation, now: new Date().toISOString().replace(/\.\d+/, '') };
    const conditions = setCondition(status?.conditions ?? [], change, scope);
    const patch = { type: 'merge', body: { status: { conditions } } } as const;
    await this.#client.patch(certificates, { namespace, name }, patch, { subresource: 'status' });
  }
}
