import type { KubeClient } from '#kube/client/client.ts';
import type { ExternalAccount } from '#machine/certificate/acme/client.ts';
import { NodeClassError } from '#machine/errors.ts';
import type { UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';
import type { Clock } from '#schemas/time/clock.ts';

import { readSecret, textIn } from '../../read-secret.ts';
import { AcmeAccount } from './account.ts';
import { Authority, fault, type Acme } from './authority.ts';

export interface AuthoritiesParts {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly clock: Clock;
}

/** What Secrets say of one authority. */
interface Given {
  readonly accountKey: string;
  readonly ca: string | undefined;
  readonly externalAccount: ExternalAccount | undefined;
}

interface Entry {
  /** Changes with what Secrets say. */
  readonly version: string;
  readonly authority: Promise<Authority>;
}

/**
 * The authorities that node classes name, one for each directory, customer and address to write to. Who corrects one of
 * its Secrets, or deletes that of the account, begins anew: nothing that was said before holds then.
 */
export class Authorities {
  readonly #parts: AuthoritiesParts;
  readonly #known = new Map<string, Entry>();

  constructor(parts: AuthoritiesParts) {
    this.#parts = parts;
  }

  /** @throws NodeClassError where a Secret that it takes is missing, or holds something else */
  async of({ certificate: { api } }: UnikraftNodeClassSpec): Promise<Authority> {
    const { acme } = api;
    if (!acme)
      throw new Error(
        'the node class names no authority, which validation keeps from getting this far',
      );
    const account = this.accountOf(acme);
    const given = await this.#given(acme, account);
    const { accountKey, ca, externalAccount } = given;
    const { directoryURL, email, externalAccountBinding } = acme;
    const place = JSON.stringify([directoryURL, email, externalAccountBinding, acme.caSecretRef]);
    const version = JSON.stringify([accountKey, ca, encoded(externalAccount?.key)]);
    const known = this.#known.get(place);
    if (known?.version === version) return known.authority;
    const authority = this.#connect(acme, account, given);
    this.#known.set(place, { version, authority });
    return authority;
  }

  accountOf(acme: Acme): AcmeAccount {
    return new AcmeAccount(this.#parts.client, this.#parts.namespace, acme);
  }

  async #connect(acme: Acme, account: AcmeAccount, given: Given): Promise<Authority> {
    const { directoryURL, email } = acme;
    const { AcmeClient } = await import('#machine/certificate/acme/client.ts');
    const client = new AcmeClient({ directoryURL, email, ...given });
    return new Authority(acme, { account, client, ca: given.ca }, this.#parts.clock);
  }

  async #given(acme: Acme, account: AcmeAccount): Promise<Given> {
    const [ca, externalAccount] = await Promise.all([this.#caOf(acme), this.#customerOf(acme)]);
    const { key: accountKey } = await account.read();
    return { accountKey, ca, externalAccount };
  }

  async #caOf({ caSecretRef }: Acme): Promise<string | undefined> {
    return caSecretRef && this.#textOf(caSecretRef.name, 'ca.crt');
  }

  /** Some authorities pad the key, or spell it in base64: all of that is read. */
  async #customerOf({ externalAccountBinding }: Acme): Promise<ExternalAccount | undefined> {
    if (!externalAccountBinding) return undefined;
    const { keyID, keySecretRef } = externalAccountBinding;
    const text = (await this.#textOf(keySecretRef.name, 'secret')).trim();
    if (/^[A-Za-z0-9_+/-]{8,}={0,2}$/.test(text))
      return { keyID, key: Buffer.from(text, 'base64url') };
    const name = `${this.#parts.namespace}/${keySecretRef.name}`;
    throw new NodeClassError(
      { ...fault, reason: 'SecretInvalid' },
      `Secret ${name} has no HMAC key in base64url under "secret"`,
    );
  }

  async #textOf(name: string, field: string): Promise<string> {
    const { client, namespace } = this.#parts;
    const secret = await readSecret(client, { namespace, name });
    const text = secret ? textIn(secret, field) : '';
    if (text !== '') return text;
    const message = secret
      ? `has no "${field}" in its data`
      : 'does not exist; it is looked for every few seconds';
    throw new NodeClassError(
      { ...fault, reason: 'SecretNotFound' },
      `Secret ${namespace}/${name} ${message}`,
    );
  }
}

const encoded = (key: Uint8Array | undefined): string =>
  key ? Buffer.from(key).toString('base64') : '';
