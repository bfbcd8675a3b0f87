import { type Clock, type Duration, minutes, seconds } from '#schemas/time/clock.ts';

/**
 * What goes wrong on a call, scripted by a test or by the sandbox's story.
 *
 * - `error`: the call does nothing and is refused with this code and HTTP status
 * - `delay`: the call acts, its answer comes later
 * - `unheard`: the connection drops before the call acts
 * - `lost`: the call acts, then the connection drops, so the caller cannot know
 */
export type Trouble =
  | {
      readonly kind: 'error';
      readonly code: string;
      readonly status: number;
      readonly message: string;
    }
  | { readonly kind: 'delay'; readonly by: Duration }
  | { readonly kind: 'unheard' }
  | { readonly kind: 'lost' };

export interface Fault<P> {
  readonly trouble: Trouble;
  /** How many calls it meets; `Infinity` until it is cleared. */
  readonly times: number;
  /** Meets only calls with such parameters. */
  readonly when: (parameters: P) => boolean;
}

interface Aim<P> {
  readonly times?: number;
  readonly when?: (parameters: P) => boolean;
}

/** @example ec2.faults.next('RunInstances', fault({ code: 'InternalError', status: 500, times: 3 })) */
export function fault<P>(
  what: { code: string; status?: number; message?: string } & Aim<P>,
): Fault<P> {
  const { code, status = 400, message = `${code} (scripted)` } = what;
  return aimed({ kind: 'error', code, status, message }, what);
}

export const delay = <P>(by: Duration, aim: Aim<P> = {}): Fault<P> =>
  aimed({ kind: 'delay', by }, aim);
export const unheard = <P>(aim: Aim<P> = {}): Fault<P> => aimed({ kind: 'unheard' }, aim);
export const lost = <P>(aim: Aim<P> = {}): Fault<P> => aimed({ kind: 'lost' }, aim);

/** How a cloud says that there were too many calls. */
const tooMany = {
  // Source: EC2 developer guide, "Request throttling".
  ec2: { code: 'RequestLimitExceeded', status: 503, message: 'Request limit exceeded.' },
  // Source: Compute Engine docs, "API rate limits"; the newer form is 429.
  gce: { code: 'rateLimitExceeded', status: 403, message: 'Rate Limit Exceeded' },
  gce429: { code: 'RATE_LIMIT_EXCEEDED', status: 429, message: 'Quota exceeded for quota metric' },
} as const;

/** More calls than a bucket of tokens lets through are refused, as clouds do by action; without end. */
export function overRate<P>(
  clock: Clock,
  rate: { perSecond: number; burst: number },
  as: keyof typeof tooMany = 'ec2',
): Fault<P> {
  let [tokens, at] = [rate.burst, clock.now()];
  const isOver = (): boolean => {
    const now = clock.now();
    tokens = Math.min(rate.burst, tokens + ((now - at) / seconds(1)) * rate.perSecond);
    at = now;
    if (tokens < 1) return true;
    tokens -= 1;
    return false;
  };
  return fault({ ...tooMany[as], times: Infinity, when: isOver });
}

/** Refuses calls beyond so many in each minute of the clock, as Compute Engine counts. */
export function overMinute<P>(clock: Clock, perMinute: number): Fault<P> {
  let [minute, calls] = [0, 0];
  const isOver = (): boolean => {
    const now = Math.floor(Date.parse(clock.stamp()) / minutes(1));
    if (now !== minute) [minute, calls] = [now, 0];
    calls += 1;
    return calls > perMinute;
  };
  return fault({ ...tooMany.gce, times: Infinity, when: isOver });
}

function aimed<P>(trouble: Trouble, { times = 1, when = () => true }: Aim<P>): Fault<P> {
  return { trouble, times, when };
}

/** Faults in the order in which they were scripted; each call meets at most the first that fits it. */
export class Faults<P> {
  #waiting: { action: string; fault: Fault<P>; left: number }[] = [];

  /** Scripts a fault for the next calls of this action, or of `*`, which is all; the returned function takes it back. */
  next(action: string, scripted: Fault<P>): () => void {
    const entry = { action, fault: scripted, left: scripted.times };
    this.#waiting.push(entry);
    return () => {
      this.#waiting = this.#waiting.filter((other) => other !== entry);
    };
  }

  clear(): void {
    this.#waiting = [];
  }

  /** What this call meets, counted as met. */
  meet(action: string, parameters: P): Trouble | undefined {
    const entry = this.#waiting.find(
      (one) =>
        (one.action === action || one.action === '*') && one.left > 0 && one.fault.when(parameters),
    );
    if (!entry) return undefined;
    entry.left -= 1;
    this.#waiting = this.#waiting.filter((one) => one.left > 0);
    return entry.fault.trouble;
  }
}
