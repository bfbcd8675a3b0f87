import { DnsUnavailable, MachineError, NodeClassError, Unauthorized } from '../../errors.ts';
import { faults } from '../../faults.ts';

const refused = new Set([
  'AccessDenied',
  'AccessDeniedException',
  'InvalidClientTokenId',
  'SignatureDoesNotMatch',
  'ExpiredToken',
  'CredentialsProviderError',
]);

/**
 * Route 53's failure as the rest of the program sees it. Everything that may pass by itself is `retry`, a refused
 * batch among it: somebody changed the zone since it was read, and it is read again.
 *
 * @param doing  what was tried, as the beginning of a sentence
 */
export function toDnsError(error: unknown, doing: string): MachineError {
  if (error instanceof MachineError) return error;
  const { name = 'Unknown', message = '' } = error as { name?: string; message?: string };
  const text = `${doing}: ${name}: ${message.slice(0, 300)}`;
  if (refused.has(name)) return new Unauthorized(text, { cause: error });
  if (name === 'NoSuchHostedZone') {
    return new NodeClassError(faults.zoneNotFound, text, { cause: error });
  }
  return new DnsUnavailable(text, { cause: error });
}
