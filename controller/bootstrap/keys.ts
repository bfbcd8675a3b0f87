import type { KubeClient } from '#kube/client/client.ts';
import { isConflict } from '#kube/client/errors.ts';
import { newSigningKey, type SigningKey } from '#machine/bootstrap/one-time-token.ts';
import { Authority } from '#pki/authority.ts';
import type { Secret } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { secrets, type Key } from '#schemas/kubernetes/resource.ts';
import { group, manager } from '#schemas/names.ts';
import {
  hours,
  minutes,
  seconds,
  type Clock,
  type Duration,
  type Instant,
} from '#schemas/time/clock.ts';

import { makeOnce, readSecret, textIn } from '../read-secret.ts';

/** In the operator's namespace; whoever deletes it fails the launches that are under way, and no machine that is up. */
export const bootstrapSecretName = 'karpenter-unikraft-bootstrap';

const signingKeys = 'signing-keys.json';
const rotatedAt = `${group}/rotated-at`;
/** Machines believe the authority for the minutes until they have called, and launches would fail at its end. */
const authorityValidity = hours(24 * 3650);
/** A key of a month ago has signed nothing that still counts. */
const keyLife = hours(24 * 30);
/** Another replica may have made new ones. */
const fresh = minutes(1);
/** For tokens by keys that are not known: made-up ones must not make us read. */
const cooldown = seconds(5);

/** What the operator proves itself with to machines that call, and what it knows its own tokens by. */
export interface BootstrapIdentity {
  readonly authority: Authority;
  /** The first signs; one more is kept for what it signed. */
  readonly keys: readonly [SigningKey, ...SigningKey[]];
}

interface Stored extends BootstrapIdentity {
  readonly secret: Live<Secret>;
}

/**
 * Authority and signing keys of the bootstrap server, in one Secret that all replicas share without a leader: it is
 * made by whoever needs it first, and each change names the version it has seen.
 */
export class BootstrapKeys {
  readonly #client: KubeClient;
  readonly #key: Key;
  readonly #clock: Clock;
  #stored: Stored | undefined;
  #readAt: Instant = -Infinity;
  #reading: Promise<Stored> | undefined;

  constructor(client: KubeClient, namespace: string, clock: Clock) {
    this.#client = client;
    this.#key = { namespace, name: bootstrapSecretName };
    this.#clock = clock;
  }

  /** @throws ApiError @throws InvalidCertificate when the Secret holds no authority that can sign */
  async current(): Promise<BootstrapIdentity> {
    return this.#notOlderThan(fresh);
  }

  /** Those that are good for a token which says that it is signed with `kid`; none when nobody knows it. */
  async keysFor(kid: string | undefined): Promise<readonly SigningKey[]> {
    const known = await this.#notOlderThan(fresh);
    const found = known.keys.filter((key) => key.kid === kid);
    if (found.length > 0) return found;
    const { keys } = await this.#notOlderThan(cooldown);
    return keys.filter((key) => key.kid === kid);
  }

  /** Makes the next key when it is time. @returns whether it did */
  async rotate(): Promise<boolean> {
    const { secret, keys } = await this.#notOlderThan(0);
    const since = secret.metadata.annotations?.[rotatedAt] ?? secret.metadata.creationTimestamp;
    if (this.#clock.now() - this.#clock.from(since ?? '') < keyLife) return false;
    const { resourceVersion } = secret.metadata;
    const next = [await newSigningKey(), keys[0]];
    const body = {
      metadata: { resourceVersion, annotations: { [rotatedAt]: this.#clock.stamp() } },
      data: { [signingKeys]: base64(JSON.stringify(next)) },
    };
    try {
      this.#take(await this.#client.patch(secrets, this.#key, { type: 'merge', body }));
      return true;
    } catch (error) {
      if (isConflict(error)) return false; // another replica was faster
      throw error;
    }
  }

  async #notOlderThan(age: Duration): Promise<Stored> {
    if (this.#stored && this.#clock.now() - this.#readAt <= age) return this.#stored;
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  async #read(): Promise<Stored> {
    return this.#take((await readSecret(this.#client, this.#key)) ?? (await this.#make()));
  }

  async #make(): Promise<Live<Secret>> {
    const options = { commonName: 'Unikraft machine bootstrap', validity: authorityValidity };
    const { pem } = await Authority.create(this.#clock, options);
    return makeOnce(this.#client, this.#key, {
      metadata: {
        labels: { 'app.kubernetes.io/managed-by': manager },
        annotations: { [rotatedAt]: this.#clock.stamp() },
      },
      type: 'Opaque',
      data: {
        'tls.crt': base64(pem.certificate),
        'tls.key': base64(pem.privateKey),
        [signingKeys]: base64(JSON.stringify([await newSigningKey()])),
      },
    });
  }

  #take(secret: Live<Secret>): Stored {
    const pem = { certificate: textIn(secret, 'tls.crt'), privateKey: textIn(secret, 'tls.key') };
    const authority = Authority.load(pem, this.#clock);
    this.#stored = { secret, authority, keys: keysIn(secret) };
    this.#readAt = this.#clock.now();
    return this.#stored;
  }
}

function keysIn(secret: Secret): BootstrapIdentity['keys'] {
  const found = listIn(textIn(secret, signingKeys));
  const [first, ...others] = found.filter(isKey);
  if (first && others.length === found.length - 1) return [first, ...others];
  const name = secret.metadata?.name;
  throw new Error(`Secret ${name} has no keys under "${signingKeys}"; delete it to have new ones`);
}

/** What cannot be read is none: the words of a JSON parser hold a part of what it read, and these are keys. */
function listIn(text: string): readonly unknown[] {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list : [];
  } catch {
    return [];
  }
}

function isKey(value: unknown): value is SigningKey {
  const { kid, d } = Object(value) as Partial<SigningKey>;
  return typeof kid === 'string' && typeof d === 'string';
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}
