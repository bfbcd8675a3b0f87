import { createHash } from 'node:crypto';

import type { KubeClient } from '#kube/client/client.ts';
import { isConflict } from '#kube/client/errors.ts';
import { newKey } from '#pki/new-request.ts';
import type { Secret } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { secrets, type Key } from '#schemas/kubernetes/resource.ts';
import type { UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';

import { makeOnce, readSecret, textIn } from '../../read-secret.ts';

type Acme = NonNullable<UnikraftNodeClassSpec['certificate']['api']['acme']>;

const keyName = 'account.key';
const issuedName = 'issued';
const challengesName = 'challenges';

/** A text at a name of a zone. */
export interface Placed {
  /** The id that its provider knows the zone by. */
  readonly zoneID: string;
  readonly name: string;
  readonly text: string;
}

/** What is known of one authority across restarts. */
export interface Known {
  readonly key: string;
  /** When certificates were asked for, RFC 3339, by zone. */
  readonly issued: Readonly<Record<string, readonly string[]>>;
  /** Challenges that may stand in a zone, by UID of the claim. */
  readonly challenges: Readonly<Record<string, readonly Placed[]>>;
}

/**
 * The Secret that keeps the account of one authority: its key, what was asked for in the last days, and the
 * challenges that may still stand in a zone. All node classes with the same directory, and the same customer of it, share it. A
 * Secret holds 1 MiB: 10,000 certificates a week, the most that a class may ask for, are 270 kB in one zone.
 */
export class AcmeAccount {
  readonly #client: KubeClient;
  readonly #key: Key;

  constructor(
    client: KubeClient,
    namespace: string,
    { directoryURL, externalAccountBinding }: Pick<Acme, 'directoryURL' | 'externalAccountBinding'>,
  ) {
    const { keyID } = externalAccountBinding ?? {};
    const holder = keyID === undefined ? directoryURL : `${directoryURL} ${keyID}`;
    const hash = createHash('sha256').update(holder).digest('hex').slice(0, 10);
    this.#client = client;
    this.#key = { namespace, name: `acme-account-${hash}` };
  }

  /** `namespace/name` of the Secret, for messages. */
  get name(): string {
    return `${this.#key.namespace}/${this.#key.name}`;
  }

  /** Challenges that may stand in a zone; none where there is no Secret, which is not made for it. */
  async challenges(): Promise<Known['challenges']> {
    const secret = await readSecret(this.#client, this.#key);
    return secret ? knownIn(secret).challenges : {};
  }

  /** A challenge is about to stand in a zone. */
  async noteChallenge(claimUid: string, placed: Placed): Promise<void> {
    await this.change(({ challenges }) => ({
      challenges: { ...challenges, [claimUid]: [...(challenges[claimUid] ?? []), placed] },
    }));
  }

  /** The challenges of a claim stand nowhere any more; others that were put up meanwhile are kept. */
  async forgetChallenges(claimUid: string, gone: readonly Placed[]): Promise<void> {
    const texts = new Set(gone.map(({ text }) => text));
    await this.change(({ challenges }) => {
      const { [claimUid]: own = [], ...others } = challenges;
      const left = own.filter(({ text }) => !texts.has(text));
      return { challenges: left.length > 0 ? { ...others, [claimUid]: left } : others };
    });
  }

  /** Makes it where there is none. */
  async read(): Promise<Known> {
    return knownIn((await readSecret(this.#client, this.#key)) ?? (await this.#make()));
  }

  /** Writes what `change` makes of it, again and again until nobody else wrote meanwhile; undefined changes nothing. */
  async change(change: (known: Known) => Partial<Known> | undefined): Promise<void> {
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- read anew after each conflict
      const secret = (await readSecret(this.#client, this.#key)) ?? (await this.#make());
      const wanted = change(knownIn(secret));
      // oxlint-disable-next-line no-await-in-loop -- as above
      if (!wanted || (await this.#write(secret, wanted))) return;
    }
  }

  async #write(
    { metadata }: Live<Secret>,
    { issued, challenges }: Partial<Known>,
  ): Promise<boolean> {
    const data = {
      ...(issued && { [issuedName]: base64(JSON.stringify(issued)) }),
      ...(challenges && { [challengesName]: base64(JSON.stringify(challenges)) }),
    };
    const body = { metadata: { resourceVersion: metadata.resourceVersion }, data };
    try {
      await this.#client.patch(secrets, this.#key, { type: 'merge', body });
      return true;
    } catch (error) {
      if (isConflict(error)) return false;
      throw error;
    }
  }

  async #make(): Promise<Live<Secret>> {
    return makeOnce(this.#client, this.#key, {
      type: 'Opaque',
      data: { [keyName]: base64(await newKey()) },
    });
  }
}

function knownIn(secret: Secret): Known {
  return {
    key: textIn(secret, keyName),
    issued: JSON.parse(textIn(secret, issuedName) || '{}') as Known['issued'],
    challenges: JSON.parse(textIn(secret, challengesName) || '{}') as Known['challenges'],
  };
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
