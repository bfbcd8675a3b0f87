import { DnsUnavailable, MachineError, NodeClassError, Unauthorized } from '../../errors.ts';
import { faults } from '../../faults.ts';
import { GoogleError } from '../../gcp/google-error.ts';

/** One project and another program may share a rate: that passes, where other refusals of this status do not. */
const busy = new Set(['rateLimitExceeded', 'userRateLimitExceeded', 'quotaExceeded']);

/**
 * Cloud DNS refused a change for what is in it: an addition is there already (409), or a deletion is not there (404)
 * or reads otherwise (412). Its messages name the place in the change; a zone that is not there has no such place.
 */
export function isRefusedChange(error: unknown): boolean {
  if (!(error instanceof GoogleError)) return false;
  if (error.status === 409 || error.status === 412) return true;
  return error.status === 404 && error.message.includes('entity.change');
}

/**
 * Cloud DNS's failure as the rest of the program sees it. Everything that may pass by itself is `retry`, a refused
 * change among it: somebody changed the zone since it was read, and it is read again.
 *
 * @param doing  what was tried, as the beginning of a sentence
 */
export function toDnsError(error: unknown, doing: string): MachineError {
  if (error instanceof MachineError) return error;
  if (!(error instanceof GoogleError)) throw error;
  const { status, reason, message } = error;
  const text = `${doing}: ${reason}: ${message.slice(0, 300)}`;
  const isRefused = status === 401 || (status === 403 && !busy.has(reason));
  if (isRefused) return new Unauthorized(text, { cause: error });
  if (status === 404 && !isRefusedChange(error)) {
    return new NodeClassError(faults.zoneNotFound, text, { cause: error });
  }
  return new DnsUnavailable(text, { cause: error });
}
