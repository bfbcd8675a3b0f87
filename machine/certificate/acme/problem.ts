import { hours, seconds, type Duration } from '#schemas/time/clock.ts';

/** As long as any limit of an authority counts back; what says more is taken for this. */
const longest: Duration = hours(24 * 7);

/** What an authority answered instead of what was asked for (RFC 8555 §6.7, RFC 9457). */
export class AcmeProblem extends Error {
  override readonly name = 'AcmeProblem';
  /** HTTP status; 0 where nobody answered. */
  readonly status: number;
  /** The end of `urn:ietf:params:acme:error:…`, such as `rateLimited`; empty where it says none. */
  readonly type: string;
  /** How long it asks to wait. */
  readonly retryAfter: Duration | undefined;

  constructor(answer: { status: number; type?: string; retryAfter?: Duration }, message: string) {
    super(message);
    this.status = answer.status;
    this.type = answer.type ?? '';
    this.retryAfter = answer.retryAfter;
  }

  get isForTheRate(): boolean {
    return this.status === 429 || this.type === 'rateLimited';
  }
}

/**
 * The authority opens no account for us, or serves the one there is no more: whatever is asked of it would be refused.
 *
 * Source: RFC 8555 §7.3, §7.3.4, §7.3.6; a deactivated account is `unauthorized`.
 */
export class AccountRefused extends AcmeProblem {
  /** Whether it was about to be opened, or is there and closed. */
  readonly at: 'opening' | 'use';

  constructor(at: AccountRefused['at'], { status, type, message, cause }: AcmeProblem) {
    super({ status, type }, message);
    this.at = at;
    this.cause = cause;
  }
}

/** Refused for what was asked, not for when. */
export function isFinal(error: unknown): error is AcmeProblem {
  if (!(error instanceof AcmeProblem) || error.isForTheRate) return false;
  return error.status >= 400 && error.status < 500 && error.type !== 'badNonce';
}

/** @throws AccountRefused where the account may not order any more (RFC 8555 §7.1.2) */
export function expectOpen({ status = 'valid' }: { readonly status?: unknown }): void {
  if (status === 'valid') return;
  const type = 'unauthorized';
  throw new AccountRefused(
    'use',
    new AcmeProblem({ status: 200, type }, `the account is ${String(status)}`),
  );
}

/**
 * How long an answer asks to wait, at most a week.
 *
 * @param header  seconds, or a date (RFC 9110 §10.2.3)
 * @param now  milliseconds since the epoch, by the real clock, for a date
 * @returns undefined where it says nothing that can be read, or a time that is over
 */
export function retryAfterOf(header: string | null, now: number): Duration | undefined {
  if (header === null || header.trim() === '') return undefined;
  const count = Number(header);
  const wait = Number.isNaN(count) ? Date.parse(header) - now : seconds(count);
  return wait > 0 ? Math.min(wait, longest) : undefined;
}
