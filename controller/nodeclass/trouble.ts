import { MachineError, NodeClassError } from '#machine/errors.ts';

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
}

/**
 * A failure of the world outside as the trouble of one condition.
 *
 * @param otherwise the condition to blame when the error names none
 * @throws whatever is no MachineError: refusals of the API server and mistakes in the program go on to the queue
 */
export function troubleOf(error: unknown, otherwise: Aspect): Trouble {
  if (!(error instanceof MachineError)) throw error;
  return {
    condition: error instanceof NodeClassError ? error.condition : otherwise,
    reason: error.reason,
    message: `${error.message} (${error.code})`,
    definite: error.next === 'node-class' || error.next === 'slow',
  };
}
