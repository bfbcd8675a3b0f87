import type { KubeClient } from '#kube/client/client.ts';
import { isAlreadyExists, isNotFound } from '#kube/client/errors.ts';
import { Authority } from '#pki/authority.ts';
import { InvalidCertificate, type PemPair } from '#pki/certificate.ts';
import type { Secret } from '#schemas/kubernetes/core.ts';
import { keyText, secrets, type Key } from '#schemas/kubernetes/resource.ts';
import { hours, type Clock } from '#schemas/time/clock.ts';

const tenYears = hours(24 * 3650);

/** The Secret holds another authority than this process works with, which ends to start anew with that one. */
export class AuthorityReplaced extends Error {
  override readonly name = 'AuthorityReplaced';

  constructor(key: Key) {
    super(
      `the CA in Secret ${keyText(key)} is another one than at the start; starting anew takes it`,
    );
  }
}

/**
 * The Secret with the authority behind the webhook's certificates, shared by all replicas. The first replica makes it;
 * the others, and those that lose the race, read it.
 */
export class CaSecret {
  readonly #client: KubeClient;
  readonly #key: Key;
  readonly #clock: Clock;

  constructor(parts: { client: KubeClient; namespace: string; clock: Clock }) {
    this.#client = parts.client;
    this.#key = { namespace: parts.namespace, name: 'karpenter-unikraft-webhook-ca' };
    this.#clock = parts.clock;
  }

  /** @throws InvalidCertificate when the Secret holds anything that cannot sign, with the way out */
  async authority(): Promise<Authority> {
    const present = await this.#read();
    if (present) return this.#load(present);
    const commonName = 'karpenter-unikraft-webhook';
    const made = await Authority.create(this.#clock, { commonName, validity: tenYears });
    return (await this.#store(made.pem)) ? made : this.authority();
  }

  /**
   * Sees to it that the Secret holds what this process works with: one that was deleted is written again, since replicas
   * that start later would make another authority, and each would take the other's out of the configurations.
   *
   * @throws AuthorityReplaced when it holds something else
   */
  async keep({ pem }: Authority): Promise<void> {
    const present = await this.#read();
    const kept = present ? present.certificate === pem.certificate : await this.#store(pem);
    if (!kept) throw new AuthorityReplaced(this.#key);
  }

  async #read(): Promise<PemPair | undefined> {
    try {
      return pairIn(await this.#client.get(secrets, this.#key));
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** @returns false when another replica was faster */
  async #store(pem: PemPair): Promise<boolean> {
    try {
      await this.#client.create(secrets, secretOf(this.#key, pem));
      return true;
    } catch (error) {
      if (isAlreadyExists(error)) return false;
      throw error;
    }
  }

  #load(pem: PemPair): Authority {
    try {
      return Authority.load(pem, this.#clock);
    } catch (error) {
      if (!(error instanceof InvalidCertificate)) throw error;
      const problem = `Secret ${keyText(this.#key)} holds no authority: ${error.message}`;
      throw new InvalidCertificate(`${problem}. Delete the Secret, and a new one is made.`);
    }
  }
}

function pairIn({ data }: Secret): PemPair {
  const read = (file: string): string => Buffer.from(data?.[file] ?? '', 'base64').toString('utf8');
  return { certificate: read('tls.crt'), privateKey: read('tls.key') };
}

function secretOf(key: Key, pem: PemPair): Secret {
  const encode = (text: string): string => Buffer.from(text).toString('base64');
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { ...key, labels: { 'app.kubernetes.io/part-of': 'karpenter-provider-unikraft' } },
    type: 'kubernetes.io/tls',
    data: { 'tls.crt': encode(pem.certificate), 'tls.key': encode(pem.privateKey) },
  };
}
