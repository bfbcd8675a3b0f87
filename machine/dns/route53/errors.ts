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
 * Route 53 refused a batch for what is in it: something exists already, or reads otherwise by now.
 *
 * It says so in two forms. The SDK does not know the one whose outermost element is `InvalidChangeBatch`, and gives
 * an error without a name that carries the messages.
 */
export function isRefusedBatch(error: unknown): boolean {
  const { name, Messages } = error as { name?: string; Messages?: unknown };
  return name === 'InvalidChangeBatch' || (name === 'Unknown' && Messages !== undefined);
}

/**
 * Route 53's failure as the rest of the program sees it. Everything that may pass by itself is `retry`, a refused
 * batch among it: somebody changed the zone since it was read, and it is read again.
 *
 * @param doing  what was tried, as the beginning of a sentence
 */
export function toDnsError(error: unknown, doing: string): MachineError {
  if (error instanceof MachineError) return error;
  const name = codeOf(error);
  const text = `${doing}: ${name}: ${wordsOf(error).slice(0, 300)}`;
  if (refused.has(name)) return new Unauthorized(text, { cause: error });
  if (name === 'NoSuchHostedZone') {
    return new NodeClassError(faults.zoneNotFound, text, { cause: error });
  }
  return new DnsUnavailable(text, { cause: error });
}

function codeOf(error: unknown): string {
  if (isRefusedBatch(error)) return 'InvalidChangeBatch';
  return error instanceof Error ? error.name : 'Unknown';
}

function wordsOf(error: unknown): string {
  const { message = '', Messages } = error as { message?: string; Messages?: unknown };
  return Messages === undefined ? message : JSON.stringify(Messages);
}
