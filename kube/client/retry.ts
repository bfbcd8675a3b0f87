/** Which failed calls may be made again, and when: pure. */
import { milliseconds, seconds, type Duration } from '#schemas/time/clock.ts';

import { ApiError, ConnectionError, isBlockedByBudget } from './errors.ts';

/** Tries in all. Whoever calls has a back-off of its own, so this only has to ride out what is short. */
const tries = 5;
/** Longer waits belong to the caller, who may have other keys to work on. */
const longestWait = seconds(30);
const firstWait = milliseconds(100);

export interface Failure {
  readonly error: unknown;
  /** How often the call was made so far, from 1. */
  readonly attempt: number;
  /** Whether making the call twice is the same as making it once. */
  readonly idempotent: boolean;
  /** In [0, 1). */
  readonly random: number;
}

/** How long to wait before the next try; undefined: the error is the caller's. */
export function retryDelay({ error, attempt, idempotent, random }: Failure): Duration | undefined {
  if (attempt >= tries) return undefined;
  if (error instanceof ApiError) return afterRefusal(error);
  if (!(error instanceof ConnectionError)) return undefined;
  if (!idempotent && !error.neverSent) return undefined;
  return firstWait * 2 ** (attempt - 1) * (0.5 + random); // 0.1 + 0.2 + 0.4 + 0.8 s, each ± half
}

/**
 * A server that asks for patience has not carried out the call, whatever it was. Without a Retry-After it is a
 * refusal like any other, and one that is held by a PodDisruptionBudget may stand for hours.
 */
function afterRefusal(error: ApiError): Duration | undefined {
  const asksToWait = (error.code === 429 || error.code === 503) && error.retryAfter !== undefined;
  if (!asksToWait || isBlockedByBudget(error)) return undefined;
  return error.retryAfter <= longestWait ? error.retryAfter : undefined;
}
