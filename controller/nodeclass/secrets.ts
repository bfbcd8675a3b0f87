import type { KubeClient } from '#kube/client/client.ts';
import { isNotFound } from '#kube/client/errors.ts';
import type { TsigKey } from '#machine/dns/rfc2136/tsig.ts';
import { NodeClassError } from '#machine/errors.ts';
import { Authority } from '#pki/authority.ts';
import { InvalidCertificate } from '#pki/certificate.ts';
import { certificatePrint } from '#pki/chain.ts';
import type { Secret } from '#schemas/kubernetes/core.ts';
import type { Live, OwnerReference } from '#schemas/kubernetes/meta.ts';
import { secrets } from '#schemas/kubernetes/resource.ts';
import { labels } from '#schemas/names.ts';
import type {
  ResolvedNodeClass,
  TsigSpec,
  UnikraftNodeClass,
  UnikraftNodeClassSpec,
} from '#schemas/nodeclass/types.ts';
import { hours, type Clock } from '#schemas/time/clock.ts';

import { makeOnce, readSecret, textIn } from '../read-secret.ts';

/** Machines live for weeks; their authority outlives them all, since nothing replaces it. */
const authorityValidity = hours(24 * 3650);
/** Where the secret of a key stands in its Secret, in base64. */
const tsigKeyName = 'secret';
/** Where the activation token stands in its Secret when the node class does not say. */
const activationKey = 'token';

// Secrets come and change beside the node class, often a little later than it.
const activation = { condition: 'CredentialsReady', code: 'KPU211', canPass: true } as const;
const updates = { condition: 'DNSReady', code: 'KPU241', canPass: true } as const;
const authority = { condition: 'CertificateReady', code: 'KPU250', canPass: true } as const;

/** Name of the Secret with the authority that signs for the machines of a class, in the operator's namespace. */
export function authoritySecretName(nodeClass: string, spec: UnikraftNodeClassSpec): string {
  return spec.certificate.api.caSecretRef?.name ?? `${nodeClass}-ca`;
}

/** The Secrets that node classes stand on, in the operator's namespace and nowhere else. */
export class NodeClassSecrets {
  readonly #client: KubeClient;
  readonly #namespace: string;
  readonly #clock: Clock;

  constructor(client: KubeClient, namespace: string, clock: Clock) {
    this.#client = client;
    this.#namespace = namespace;
    this.#clock = clock;
  }

  /** @throws NodeClassError unless the activation Secret, if one is named, is there and holds its key */
  async checkActivation(spec: UnikraftNodeClassSpec): Promise<void> {
    const reference = spec.platform?.activationSecretRef;
    if (!reference) return;
    const { name, key = activationKey } = reference;
    const secret = await this.#get(name);
    if (!secret) throw missing(activation, this.#namespace, name);
    if (textIn(secret, key)) return;
    const message = `Secret ${this.#namespace}/${name} has no "${key}" in its data`;
    throw new NodeClassError({ ...activation, reason: 'ActivationSecretInvalid' }, message);
  }

  /**
   * Sees to it that there is an authority: the user's own, or one that is made once and never replaced.
   *
   * @returns the fingerprint of the user's own
   * @throws NodeClassError when it is missing or cannot sign
   */
  async ensureAuthority(nodeClass: Live<UnikraftNodeClass>): Promise<string | undefined> {
    const { metadata, spec } = nodeClass;
    const name = authoritySecretName(metadata.name, spec);
    const own = spec.certificate.api.caSecretRef === undefined;
    const found = await this.#get(name);
    if (!found && !own) throw missing(authority, this.#namespace, name);
    const secret = found ?? (await this.#make(name, nodeClass));
    if (own && secret.metadata?.labels?.[labels.nodeClass] !== metadata.name) {
      const message =
        `Secret ${this.#namespace}/${name} exists and was not made for this node class. ` +
        'Remove it, or name it in spec.certificate.api.caSecretRef';
      throw new NodeClassError({ ...authority, reason: 'CASecretTaken' }, message);
    }
    const { pem } = this.#load(name, secret);
    return own ? undefined : certificatePrint(pem.certificate);
  }

  /**
   * The authority that signs for the machines of a revision.
   *
   * @throws NodeClassError when it is missing or cannot sign
   */
  async authorityOf({ nodeClass, spec }: ResolvedNodeClass): Promise<Authority> {
    const name = authoritySecretName(nodeClass, spec);
    const secret = await this.#get(name);
    if (!secret) throw missing(authority, this.#namespace, name);
    return this.#load(name, secret);
  }

  /**
   * The key that signs dynamic updates.
   *
   * @throws NodeClassError unless its Secret is there and holds it in base64
   */
  async tsigKey({ name, algorithm = 'hmac-sha256', secretRef }: TsigSpec): Promise<TsigKey> {
    const secret = await this.#get(secretRef.name);
    if (!secret) throw missing(updates, this.#namespace, secretRef.name);
    const text = textIn(secret, tsigKeyName).trim();
    if (/^[A-Za-z0-9+/]{8,}={0,2}$/.test(text)) {
      return { name, algorithm, secret: Buffer.from(text, 'base64') };
    }
    const message = `Secret ${this.#namespace}/${secretRef.name} has no "${tsigKeyName}" in its data that is base64`;
    throw new NodeClassError({ ...updates, reason: 'TsigSecretInvalid' }, message);
  }

  /** Removes the authority that was made for a class; one that the user gave stays. */
  async removeAuthority(nodeClass: string): Promise<void> {
    const name = `${nodeClass}-ca`;
    const secret = await this.#get(name);
    if (secret?.metadata.labels?.[labels.nodeClass] !== nodeClass) return;
    const { uid } = secret.metadata;
    await this.#client
      .delete(secrets, { namespace: this.#namespace, name }, { uid })
      .catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
  }

  #load(name: string, secret: Secret): Authority {
    const pem = { certificate: textIn(secret, 'tls.crt'), privateKey: textIn(secret, 'tls.key') };
    try {
      return Authority.load(pem, this.#clock);
    } catch (error) {
      if (!(error instanceof InvalidCertificate)) throw error;
      const message = `Secret ${this.#namespace}/${name} holds no usable authority: ${error.message}`;
      throw new NodeClassError({ ...authority, reason: 'CASecretInvalid' }, message);
    }
  }

  async #make(name: string, nodeClass: Live<UnikraftNodeClass>): Promise<Secret> {
    const className = nodeClass.metadata.name;
    const options = { commonName: `${className} machines`, validity: authorityValidity };
    const { pem } = await Authority.create(this.#clock, options);
    return makeOnce(
      this.#client,
      { namespace: this.#namespace, name },
      {
        metadata: {
          labels: { [labels.nodeClass]: className },
          ownerReferences: [ownedBy(nodeClass)],
        },
        type: 'kubernetes.io/tls',
        data: { 'tls.crt': base64(pem.certificate), 'tls.key': base64(pem.privateKey) },
      },
    );
  }

  async #get(name: string): Promise<Live<Secret> | undefined> {
    return readSecret(this.#client, { namespace: this.#namespace, name });
  }
}

export function ownedBy({ metadata }: Live<UnikraftNodeClass>): OwnerReference {
  return {
    apiVersion: 'karpenter.unikraft.com/v1alpha1',
    kind: 'UnikraftNodeClass',
    name: metadata.name,
    uid: metadata.uid,
  };
}

function missing(
  part: typeof activation | typeof authority | typeof updates,
  namespace: string,
  name: string,
): NodeClassError {
  const message = `Secret ${namespace}/${name} does not exist; it is looked for every few seconds`;
  return new NodeClassError({ ...part, reason: 'SecretNotFound' }, message);
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}
