import { ApiError, ConnectionError } from '#kube/client/errors.ts';
import { MachineError, NodeClassError } from '#machine/errors.ts';

import { asReason, coded } from '../reason.ts';

/** The conditions of a node class that each speak of one thing that its newest spec needs. */
export const aspects = [
  'ValidationSucceeded',
  'CredentialsReady',
  'ImageReady',
  'PlacementReady',
  'DNSReady',
  'CertificateReady',
  'KraftletReady',
] as const;
export type Aspect = (typeof aspects)[number];

/** Why a condition is not True. */
export interface Trouble {
  readonly condition: Aspect;
  readonly reason: string;
  /** Ends with the code. */
  readonly message: string;
  /** The world answered, and the answer is no; otherwise nobody knows just now. */
  readonly definite: boolean;
  /** Only another spec helps: nothing is to be waited for. */
  readonly lasting: boolean;
}

/**
 * A failure of the world outside as the trouble of one condition.
 *
 * @param otherwise the condition to blame when the error names none
 * @throws failures of our own API server, which go on to the queue
 */
export function troubleOf(error: unknown, otherwise: Aspect): Trouble {
  if (error instanceof ApiError || error instanceof ConnectionError) throw error;
  if (!(error instanceof MachineError)) return unexpected(error, otherwise);
  return {
    condition: error instanceof NodeClassError ? error.condition : otherwise,
    reason: asReason(error.reason),
    message: coded(error.message, error.code),
    definite: error.next === 'node-class' || error.next === 'slow',
    lasting: error instanceof NodeClassError && !error.canPass,
  };
}

/** An SDK can fail in ways that nobody has told apart yet; the class says so, and it is tried again. */
function unexpected(error: unknown, condition: Aspect): Trouble {
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return { condition, reason: 'UnexpectedError', message, definite: false, lasting: false };
}
