import type { AcmeClient } from '#machine/certificate/acme/client.ts';
import { AccountRefused, AcmeProblem } from '#machine/certificate/acme/problem.ts';
import { CertificateFailed, CertificateLimited, NodeClassError } from '#machine/errors.ts';
import type { UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';
import { hours, minutes, type Clock, type Duration, type Instant } from '#schemas/time/clock.ts';

import type { AcmeAccount } from './account.ts';
import { roomAt } from './limits.ts';

export type Acme = NonNullable<UnikraftNodeClassSpec['certificate']['api']['acme']>;

export const fault = { condition: 'CertificateReady', code: 'KPU366', canPass: true } as const;

/** Where an authority says to wait and not how long. */
const unsaid = hours(1);
/** What an authority that is away is not asked for. */
const away = minutes(1);
/** An account is refused until a person has acted: here, which is noticed at once, or at the authority. */
const refused = minutes(10);
const mostPerWeek = 50;

interface Rest {
  readonly until: Instant;
  /** What the authority said. */
  readonly why: string;
  readonly isForTheRate: boolean;
}

/** One authority, with one account of ours at it. */
export class Authority {
  readonly account: AcmeAccount;
  readonly client: AcmeClient;
  /** PEM of those who are trusted in place of the public ones. */
  readonly ca: string | undefined;
  readonly #acme: Acme;
  readonly #clock: Clock;
  /** It is asked for nothing before it is over. */
  #rest: Rest | undefined;

  constructor(
    acme: Acme,
    { account, client, ca }: Pick<Authority, 'account' | 'client' | 'ca'>,
    clock: Clock,
  ) {
    this.account = account;
    this.client = client;
    this.ca = ca;
    this.#acme = acme;
    this.#clock = clock;
  }

  /** @throws NodeClassError unless it has an account for us and nothing says to wait */
  async check(spec: UnikraftNodeClassSpec, signal: AbortSignal): Promise<void> {
    try {
      await this.expectRoom(spec);
      await this.client.account(signal);
    } catch (error) {
      signal.throwIfAborted();
      const known = this.toError(error);
      if (known instanceof CertificateLimited)
        throw new NodeClassError(
          { ...fault, code: 'KPU365', reason: 'CertificatesLimited' },
          known.message,
        );
      if (known instanceof CertificateFailed)
        throw new NodeClassError({ ...fault, reason: 'AuthorityRefuses' }, known.message);
      throw known;
    }
  }

  /**
   * @throws CertificateLimited while it said to wait, or the week's certificates are used up
   * @throws CertificateFailed while it is left alone for another reason
   */
  async expectRoom({ dns, certificate: { api } }: UnikraftNodeClassSpec): Promise<void> {
    if (this.#rest && this.#clock.now() < this.#rest.until) {
      const { until, why, isForTheRate } = this.#rest;
      const told = `The authority is left alone for ${this.#minutesTo(until)} min: ${why}`;
      throw isForTheRate ? new CertificateLimited(told) : new CertificateFailed(told);
    }
    const most = api.acme?.certificatesPerWeek ?? mostPerWeek;
    const { issued } = await this.account.read();
    const room = roomAt(issued[dns.zone] ?? [], most, this.#clock);
    if (room <= this.#clock.now()) return;
    throw new CertificateLimited(
      `${most} certificates for ${dns.zone} were asked for within a week, as many as may be; there is room again in ${this.#minutesTo(room)} min`,
    );
  }

  /** What it said, as our own error; it is left alone where it would say the same again. */
  toError(error: unknown): unknown {
    if (!(error instanceof AcmeProblem)) return error;
    const why = [error.message, ...this.#advice(error)].join('; ');
    const pause = pauseAfter(error);
    if (pause !== undefined) {
      const until = Math.max(this.#rest?.until ?? -Infinity, this.#clock.now() + pause);
      this.#rest = { until, why, isForTheRate: error.isForTheRate };
    }
    const told = `The authority says: ${why}`;
    return error.isForTheRate
      ? new CertificateLimited(told, { cause: error })
      : new CertificateFailed(told, { cause: error });
  }

  #minutesTo(at: Instant): number {
    return Math.ceil((at - this.#clock.now()) / minutes(1));
  }

  #advice(error: AcmeProblem): string[] {
    if (!(error instanceof AccountRefused)) return [];
    const { type, at } = error;
    const binding = this.#acme.externalAccountBinding;
    if (!binding && type === 'externalAccountRequired') {
      return ['set certificate.api.acme.externalAccountBinding to a key that it gave out'];
    }
    const advice: string[] = [];
    if (binding && at === 'opening' && ofBindings.has(type)) {
      const { keyID, keySecretRef } = binding;
      advice.push(
        `check key id ${keyID} of externalAccountBinding, and that Secret ${keySecretRef.name} holds the key as it was given out`,
      );
    }
    if (type === 'unauthorized') {
      advice.push(
        `if the account is closed, delete Secret ${this.account.name}: another one is opened then`,
      );
    }
    return advice;
  }
}

/** What authorities say of a binding that they do not take: RFC 8555 §7.3.4 leaves it to them. */
const ofBindings = new Set([
  'externalAccountRequired',
  'unauthorized',
  'malformed',
  'badSignatureAlgorithm',
  '',
]);

/** @returns undefined where it may be asked for something else at once */
function pauseAfter(error: AcmeProblem): Duration | undefined {
  if (error.isForTheRate) return error.retryAfter ?? unsaid;
  if (error.status === 0 || error.status >= 500) return error.retryAfter ?? away;
  return error instanceof AccountRefused ? refused : undefined;
}
