import { createHash } from 'node:crypto';

import { calculateJwkThumbprint, FlattenedSign, importPKCS8, type JWK, exportJWK } from 'jose';
import { Agent, fetch } from 'undici';

import { seconds } from '#schemas/time/clock.ts';

import { fieldsOf, problemOf, textOf } from './answer.ts';
import { AccountRefused, AcmeProblem, expectOpen, isFinal } from './problem.ts';

const timeout = seconds(20);

interface Directory {
  readonly newNonce: string;
  readonly newAccount: string;
  readonly newOrder: string;
}

export interface Order {
  readonly status: 'pending' | 'ready' | 'processing' | 'valid' | 'invalid';
  readonly authorizations: readonly string[];
  readonly finalize: string;
  readonly certificate?: string;
  readonly error?: { readonly detail?: string };
}

export interface Challenge {
  readonly type: string;
  readonly url: string;
  readonly token: string;
  readonly status: string;
  readonly error?: { readonly detail?: string };
}

export interface Authorization {
  readonly identifier: { readonly value: string };
  readonly status: 'pending' | 'valid' | 'invalid' | 'deactivated' | 'expired' | 'revoked';
  readonly challenges: readonly Challenge[];
}

/** What an authority gives its customers, for accounts to be known as theirs (RFC 8555 §7.3.4). */
export interface ExternalAccount {
  readonly keyID: string;
  /** Of HMAC-SHA256. */
  readonly key: Uint8Array;
}

export interface AcmeClientOptions {
  readonly directoryURL: string;
  /** PKCS#8 PEM of an EC P-256 key. */
  readonly accountKey: string;
  readonly email: string | undefined;
  /** PEM of whom the authority's own server is believed by; the public ones when absent. */
  readonly ca: string | undefined;
  /** Whose the account is to be, where the authority opens none without. */
  readonly externalAccount?: ExternalAccount | undefined;
}

interface Answer {
  readonly location: string;
  readonly text: string;
}

/**
 * One account with one authority that speaks ACME (RFC 8555). Nothing is repeated here but what a stale nonce refused, since who
 * calls knows the authority's limits.
 */
export class AcmeClient {
  readonly #options: AcmeClientOptions;
  readonly #agent: Agent;
  readonly #nonces: string[] = [];
  #directory: Promise<Directory> | undefined;
  #account: Promise<string> | undefined;

  constructor(options: AcmeClientOptions) {
    this.#options = options;
    this.#agent = new Agent({ connect: options.ca === undefined ? {} : { ca: options.ca } });
  }

  /**
   * The account's URL; it is made where there is none. Its holder agrees to the authority's terms by naming it.
   *
   * @throws AccountRefused where the authority would not open it, or has closed it
   */
  async account(signal: AbortSignal): Promise<string> {
    this.#account ??= this.#register(signal);
    return this.#account.catch((error: unknown) => {
      this.#account = undefined;
      throw error;
    });
  }

  /**
   * An account that the authority has forgotten is opened anew, once; one that it has closed is found out.
   *
   * @returns the new order's URL
   * @throws AccountRefused where it is for the account that nothing can be ordered
   */
  async newOrder(names: readonly string[], signal: AbortSignal): Promise<string> {
    const { newOrder } = await this.#find(signal);
    const identifiers = names.map((value) => ({ type: 'dns', value }));
    const order = async (): Promise<string> =>
      (await this.#post(newOrder, { identifiers }, signal)).location;
    try {
      return await order();
    } catch (error) {
      const type = error instanceof AcmeProblem ? error.type : '';
      if (type !== 'accountDoesNotExist' && type !== 'unauthorized') throw error;
      this.#account = undefined;
      await this.account(signal);
      if (type === 'unauthorized') await this.#proveAccount(signal);
      if (type === 'accountDoesNotExist') return order();
      throw error;
    }
  }

  async order(url: string, signal: AbortSignal): Promise<Order> {
    return this.#read<Order>(url, signal);
  }

  async authorization(url: string, signal: AbortSignal): Promise<Authorization> {
    return this.#read<Authorization>(url, signal);
  }

  /** Tells the authority that it may look. */
  async ready({ url }: Challenge, signal: AbortSignal): Promise<void> {
    await this.#post(url, {}, signal);
  }

  /** @param csr  DER */
  async finalize({ finalize }: Order, csr: Buffer, signal: AbortSignal): Promise<void> {
    await this.#post(finalize, { csr: csr.toString('base64url') }, signal);
  }

  /** The chain, the leaf first. */
  async certificate(url: string, signal: AbortSignal): Promise<string> {
    return (await this.#post(url, undefined, signal)).text;
  }

  /** What has to stand at `_acme-challenge.<name>` (RFC 8555 §8.4). */
  async textFor({ token }: Challenge): Promise<string> {
    const thumbprint = await calculateJwkThumbprint(await this.#publicKey());
    return createHash('sha256').update(`${token}.${thumbprint}`).digest('base64url');
  }

  async close(): Promise<void> {
    await this.#agent.close();
  }

  async #register(signal: AbortSignal): Promise<string> {
    const { newAccount } = await this.#find(signal);
    const { email } = this.#options;
    const contact = email === undefined ? {} : { contact: [`mailto:${email}`] };
    const jwk = await this.#publicKey();
    const wish = {
      termsOfServiceAgreed: true,
      ...contact,
      ...(await this.#binding(newAccount, jwk)),
    };
    const { location, text } = await this.#send(newAccount, wish, { jwk }, signal).catch(
      (error: unknown) => {
        throw isFinal(error) ? new AccountRefused('opening', error) : error;
      },
    );
    expectOpen(fieldsOf(text));
    return location;
  }

  /** Says, by a key that the authority gave out, whose the account's own key is (RFC 8555 §7.3.4). */
  async #binding(url: string, jwk: JWK): Promise<object> {
    const { externalAccount } = this.#options;
    if (!externalAccount) return {};
    const { keyID, key } = externalAccount;
    const externalAccountBinding = await new FlattenedSign(Buffer.from(JSON.stringify(jwk)))
      .setProtectedHeader({ alg: 'HS256', kid: keyID, url })
      .sign(key);
    return { externalAccountBinding };
  }

  /** Some authorities open an account that is closed, and refuse all that is asked with it. */
  async #proveAccount(signal: AbortSignal): Promise<void> {
    try {
      expectOpen(await this.#read<{ status?: string }>(await this.account(signal), signal));
    } catch (error) {
      this.#account = undefined;
      throw isFinal(error) ? new AccountRefused('use', error) : error;
    }
  }

  async #find(signal: AbortSignal): Promise<Directory> {
    this.#directory ??= this.#get(this.#options.directoryURL, signal).then(
      async (response) => JSON.parse(await textOf(response)) as Directory,
    );
    return this.#directory.catch((error: unknown) => {
      this.#directory = undefined;
      throw error;
    });
  }

  async #read<T>(url: string, signal: AbortSignal): Promise<T> {
    return JSON.parse((await this.#post(url, undefined, signal)).text) as T;
  }

  async #post(url: string, payload: object | undefined, signal: AbortSignal): Promise<Answer> {
    return this.#send(url, payload, { kid: await this.account(signal) }, signal);
  }

  /** @param payload  undefined reads, which ACME does by POST (RFC 8555 §6.3) */
  async #send(
    url: string,
    payload: object | undefined,
    who: { kid: string } | { jwk: JWK },
    signal: AbortSignal,
    triesLeft = 8,
  ): Promise<Answer> {
    const body = await this.#signed(url, payload, who, signal);
    const headers = { 'content-type': 'application/jose+json' };
    try {
      const response = await this.#fetch(url, { method: 'POST', body, headers }, signal);
      return { location: response.headers.get('location') ?? '', text: await textOf(response) };
    } catch (error) {
      const isStale = error instanceof AcmeProblem && error.type === 'badNonce';
      if (!isStale || triesLeft === 0) throw error;
      return this.#send(url, payload, who, signal, triesLeft - 1);
    }
  }

  async #signed(
    url: string,
    payload: object | undefined,
    who: { kid: string } | { jwk: JWK },
    signal: AbortSignal,
  ): Promise<string> {
    const nonce = this.#nonces.pop() ?? (await this.#nonce(signal));
    const text = payload === undefined ? '' : JSON.stringify(payload);
    const key = await importPKCS8(this.#options.accountKey, 'ES256');
    const jws = await new FlattenedSign(Buffer.from(text))
      .setProtectedHeader({ alg: 'ES256', nonce, url, ...who })
      .sign(key);
    return JSON.stringify(jws);
  }

  async #nonce(signal: AbortSignal): Promise<string> {
    const { newNonce } = await this.#find(signal);
    await this.#fetch(newNonce, { method: 'HEAD' }, signal);
    return this.#nonces.pop() ?? '';
  }

  async #publicKey(): Promise<JWK> {
    const { crv, kty, x, y } = await exportJWK(
      await importPKCS8(this.#options.accountKey, 'ES256', { extractable: true }),
    );
    return { crv, kty, x, y } as JWK;
  }

  async #get(url: string, signal: AbortSignal): ReturnType<typeof fetch> {
    return this.#fetch(url, { method: 'GET' }, signal);
  }

  async #fetch(
    url: string,
    init: { method: string; body?: string; headers?: Record<string, string> },
    signal: AbortSignal,
  ): ReturnType<typeof fetch> {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeout)]);
    const response = await fetch(url, { ...init, dispatcher: this.#agent, signal: limit }).catch(
      (error: Error & { cause?: Error }) => {
        signal.throwIfAborted();
        throw new AcmeProblem(
          { status: 0 },
          `no answer from ${url}: ${(error.cause ?? error).message}`,
        );
      },
    );
    const nonce = response.headers.get('replay-nonce');
    if (nonce !== null) this.#nonces.push(nonce);
    if (!response.ok) throw await problemOf(url, response);
    return response;
  }
}
