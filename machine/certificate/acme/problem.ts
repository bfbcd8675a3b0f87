import { seconds, type Duration } from '#schemas/time/clock.ts';

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

/** @param now  milliseconds since the epoch, by the real clock, for a date */
export function retryAfterOf(header: string | null, now: number): Duration | undefined {
  if (header === null || header.trim() === '') return undefined;
  const count = Number(header);
  const wait = Number.isFinite(count) ? seconds(count) : Date.parse(header) - now;
  return wait > 0 ? wait : undefined;
}
