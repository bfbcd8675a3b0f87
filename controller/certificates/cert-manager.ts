import type { KubeClient } from '#kube/client/client.ts';
import { isAlreadyExists, isForbidden, isInvalid, isNotFound } from '#kube/client/errors.ts';
import { getCondition } from '#kube/conditions.ts';
import { certificateFor, certificateName, progressOf } from '#machine/certificate/cert-manager.ts';
import {
  CertificateFailed,
  CertificatePending,
  CreateError,
  NodeClassError,
} from '#machine/errors.ts';
import {
  certificates,
  clusterIssuers,
  issuers,
  type CertManagerCertificate,
  type IssuerRef,
} from '#schemas/kubernetes/cert-manager.ts';
import type { KubeObject, Live } from '#schemas/kubernetes/meta.ts';
import { apiVersionOf, secrets, type Key, type Resource } from '#schemas/kubernetes/resource.ts';
import { labels } from '#schemas/names.ts';
import type { UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';
import type { Clock } from '#schemas/time/clock.ts';

import { readSecret } from '../read-secret.ts';
import { certificateIn } from './given.ts';
import { validityOf } from './private-ca.ts';
import type { CertificateRequest, CertificateSource, MachineCertificate } from './source.ts';

const certManager = 'cert-manager.io';
const fault = { condition: 'CertificateReady', code: 'KPU362', canPass: true } as const;

/**
 * Mode CertManager: one Certificate per machine, made before its instance and gone with its claim. cert-manager's Secret is
 * copied into the machine's own, so that a renewal, which the machine could not take, changes nothing.
 */
export class CertManagerCertificates implements CertificateSource {
  readonly #client: KubeClient;
  readonly #namespace: string;
  readonly #clock: Pick<Clock, 'stamp'>;

  constructor(client: KubeClient, namespace: string, clock: Pick<Clock, 'stamp'>) {
    this.#client = client;
    this.#namespace = namespace;
    this.#clock = clock;
  }

  /** @throws NodeClassError unless cert-manager is there and the issuer, where it is one of its own, is ready */
  async check({ certificate: { api } }: UnikraftNodeClassSpec): Promise<void> {
    const { name, kind, group } = issuerOf(api.issuerRef);
    await this.#find();
    if (group !== certManager) return; // of an external issuer only its own controller knows where it is
    const [resource, key] =
      kind === 'Issuer'
        ? ([issuers, { namespace: this.#namespace, name }] as const)
        : ([clusterIssuers, { name }] as const);
    const issuer = await this.#client.get(resource, key).catch(missing);
    if (!issuer) {
      const place = kind === 'Issuer' ? ` in namespace ${this.#namespace}` : '';
      throw absent('IssuerNotFound', `${kind} ${name} does not exist${place}`);
    }
    const ready = getCondition(issuer.status?.conditions, 'Ready');
    if (ready?.status === 'True') return;
    const said = ready?.message ?? 'it says nothing yet';
    throw absent('IssuerNotReady', `${kind} ${name} is not ready: ${said}`);
  }

  async certificateFor(
    request: CertificateRequest,
    signal: AbortSignal,
  ): Promise<MachineCertificate> {
    const key = this.#key(request);
    const found = await this.#client.get(certificates, key, { signal }).catch(missing);
    const certificate = found ?? (await this.#order(request));
    if (!isOf(certificate, request)) throw taken('Certificate', key);
    const progress = progressOf(certificate);
    if (progress.kind === 'failed') throw new CertificateFailed(textOf(key, progress.message));
    if (progress.kind === 'under-way') throw new CertificatePending(textOf(key, progress.message));
    return this.#read(request);
  }

  /** First the Certificate, or cert-manager would make its Secret again. */
  async release(request: CertificateRequest): Promise<void> {
    await this.#remove(certificates, request);
    await this.#remove(secrets, request);
  }

  async #read(request: CertificateRequest): Promise<MachineCertificate> {
    const key = this.#key(request);
    const secret = await readSecret(this.#client, key);
    if (!secret) throw new CertificatePending(textOf(key, 'its Secret is not there yet'));
    if (!isOf(secret, request)) throw taken('Secret', key);
    const expected = { names: request.names, at: this.#clock.stamp(), left: 0 };
    const read = certificateIn(secret, expected);
    if (typeof read !== 'string') return read;
    throw new CertificateFailed(textOf(key, `cert-manager issued what cannot serve: ${read}`));
  }

  async #order(request: CertificateRequest): Promise<Live<CertManagerCertificate>> {
    const { claim, machine, nodeClass, names } = request;
    const { uid } = claim.metadata;
    const ordered = certificateFor({
      namespace: this.#namespace,
      machine,
      names,
      validity: validityOf(request),
      issuerRef: issuerOf(nodeClass.spec.certificate.api.issuerRef),
      labels: { [labels.claimUid]: uid, [labels.nodeClass]: nodeClass.nodeClass },
    });
    try {
      return await this.#client.create(certificates, ordered);
    } catch (error) {
      if (isAlreadyExists(error)) return this.#client.get(certificates, this.#key(request));
      throw refusalOf(error);
    }
  }

  async #find(): Promise<void> {
    const served = (await this.#client.raw(`/apis/${apiVersionOf(certificates)}`)) as
      | { resources?: { name: string }[] }
      | undefined;
    if (served?.resources?.some(({ name }) => name === certificates.plural)) return;
    throw absent(
      'CertManagerNotFound',
      `The cluster serves no ${certificates.kind} of ${apiVersionOf(certificates)}: cert-manager is not installed`,
    );
  }

  async #remove<T extends KubeObject>(resource: Resource<T>, request: CertificateRequest) {
    const key = this.#key(request);
    const found = await this.#client.get(resource, key).catch(missing);
    if (!found || !isOf(found, request)) return;
    await this.#client.delete(resource, key, { uid: found.metadata.uid }).catch(missing);
  }

  #key({ machine }: CertificateRequest): Key {
    return { namespace: this.#namespace, name: certificateName(machine) };
  }
}

/** cert-manager's own default for the kind is its namespaced one, which here is the operator's namespace. */
function issuerOf(
  ref: UnikraftNodeClassSpec['certificate']['api']['issuerRef'],
): Required<IssuerRef> {
  const { name = '', kind = 'ClusterIssuer', group = certManager } = ref ?? {};
  return { name, kind, group };
}

function isOf({ metadata }: KubeObject, { claim }: CertificateRequest): boolean {
  return metadata?.labels?.[labels.claimUid] === claim.metadata.uid;
}

const textOf = ({ namespace, name }: Key, message: string): string =>
  `Certificate ${namespace}/${name}: ${message}`;

const absent = (reason: string, message: string): NodeClassError =>
  new NodeClassError({ ...fault, reason }, message);

/** Names are short, so two in a great many are alike; what another machine has is left alone. */
function taken(kind: string, { namespace, name }: Key): CreateError {
  const message = `${kind} ${namespace}/${name} was not made for this machine`;
  return new CreateError('MachineNameTaken', message, 'slow');
}

function refusalOf(error: unknown): unknown {
  if (isNotFound(error))
    return absent('CertManagerNotFound', `No Certificate can be made: ${error.text}`);
  if (!isForbidden(error) && !isInvalid(error)) return error;
  return absent('CertificateRefused', `The API server takes no Certificate: ${error.text}`);
}

function missing(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}
