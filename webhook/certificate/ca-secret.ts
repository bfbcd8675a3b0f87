import type { KubeClient } from '#kube/client/client.ts';
import { isAlreadyExists, isConflict, isNotFound } from '#kube/client/errors.ts';
import { Authority } from '#pki/authority.ts';
import { certificatesIn, InvalidCertificate, type PemPair } from '#pki/certificate.ts';
import type { Secret } from '#schemas/kubernetes/core.ts';
import { keyText, secrets, type Key } from '#schemas/kubernetes/resource.ts';
import { group } from '#schemas/names.ts';
import type { Clock } from '#schemas/time/clock.ts';

import { bundleOf, type Lifetimes, type Ring } from './ring.ts';

export const caSecretName = 'karpenter-unikraft-webhook-ca';

/** On the Secret, for the replica that retires the authority before: RFC 3339. */
const signsSince = `${group}/signs-since`;

/** What is stored, with the version that a write must find unchanged. */
export interface Stored {
  readonly ring: Ring;
  readonly resourceVersion: string | undefined;
}

interface CaSecretParts {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly clock: Clock;
  readonly lifetimes: Lifetimes;
}

/**
 * The Secret with the authorities behind the webhook's certificates, shared by all replicas. The first replica makes it;
 * the others, and those that lose the race, read it. Every write names the version it has seen, so that of replicas that
 * take the same step at once one does.
 *
 * `tls.crt`, `tls.key`: what signs. `next.crt`, `next.key`: what will. `ca.crt`: all that is to be trusted.
 */
export class CaSecret {
  readonly #parts: CaSecretParts;
  readonly #key: Key;

  constructor(parts: CaSecretParts) {
    this.#parts = parts;
    this.#key = { namespace: parts.namespace, name: caSecretName };
  }

  /** What is stored, which is made when there is nothing. @throws InvalidCertificate see {@link CaSecret.parse} */
  async open(): Promise<Stored> {
    const present = await this.#read();
    if (present) return this.parse(present);
    const { clock } = this.#parts;
    const ring = { signing: await this.newAuthority(), since: clock.stamp(), retired: [] };
    return (await this.create(ring)) ?? this.open();
  }

  /** A new authority, stored nowhere yet. */
  async newAuthority(): Promise<PemPair> {
    const { clock, lifetimes } = this.#parts;
    const options = { commonName: 'karpenter-unikraft-webhook', validity: lifetimes.authority };
    return (await Authority.create(clock, options)).pem;
  }

  /** Signs as a pair that is stored. @throws InvalidCertificate */
  load(pem: PemPair): Authority {
    return Authority.load(pem, this.#parts.clock);
  }

  /**
   * The authorities that a Secret holds.
   *
   * @throws InvalidCertificate when what should sign cannot, with the way out
   */
  parse({ metadata, data }: Secret): Stored {
    const read = (file: string): string =>
      Buffer.from(data?.[file] ?? '', 'base64').toString('utf8');
    const signing = { certificate: read('tls.crt'), privateKey: read('tls.key') };
    this.#check(signing);
    const next = { certificate: read('next.crt'), privateKey: read('next.key') };
    const others = new Set(
      [signing, next].flatMap(({ certificate }) => certificatesIn(certificate)),
    );
    const ring = {
      signing,
      since: metadata?.annotations?.[signsSince],
      ...(next.certificate !== '' && { next }),
      retired: certificatesIn(read('ca.crt')).filter((one) => !others.has(one)),
    };
    return { ring, resourceVersion: metadata?.resourceVersion };
  }

  /** @returns undefined when there is one already */
  async create(ring: Ring): Promise<Stored | undefined> {
    try {
      return this.parse(await this.#parts.client.create(secrets, this.#secretOf(ring)));
    } catch (error) {
      if (isAlreadyExists(error)) return undefined;
      throw error;
    }
  }

  /** @returns undefined when it is not any more as it was seen */
  async replace(ring: Ring, { resourceVersion }: Stored): Promise<Stored | undefined> {
    try {
      const secret = this.#secretOf(ring, resourceVersion);
      return this.parse(await this.#parts.client.replace(secrets, secret));
    } catch (error) {
      if (isConflict(error) || isNotFound(error)) return undefined;
      throw error;
    }
  }

  async #read(): Promise<Secret | undefined> {
    try {
      return await this.#parts.client.get(secrets, this.#key);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  #check(signing: PemPair): void {
    try {
      this.load(signing);
    } catch (error) {
      if (!(error instanceof InvalidCertificate)) throw error;
      const problem = `Secret ${keyText(this.#key)} holds no authority: ${error.message}`;
      throw new InvalidCertificate(`${problem}. Delete the Secret, and it is made again.`);
    }
  }

  #secretOf(ring: Ring, resourceVersion?: string): Secret {
    const { signing, next, since } = ring;
    const files = {
      'tls.crt': signing.certificate,
      'tls.key': signing.privateKey,
      'ca.crt': bundleOf(ring),
      ...(next && { 'next.crt': next.certificate, 'next.key': next.privateKey }),
    };
    const encoded = Object.entries(files).map(([file, text]) => [
      file,
      Buffer.from(text).toString('base64'),
    ]);
    return {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        ...this.#key,
        labels: { 'app.kubernetes.io/part-of': 'karpenter-provider-unikraft' },
        ...(since !== undefined && { annotations: { [signsSince]: since } }),
        ...(resourceVersion !== undefined && { resourceVersion }),
      },
      type: 'kubernetes.io/tls',
      data: Object.fromEntries(encoded) as Record<string, string>,
    };
  }
}
