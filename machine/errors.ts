/**
 * What a caller does about a failure of the world outside:
 * - `try-another`: no room here; take the next candidate
 * - `same-again`: nobody knows whether it happened; repeat exactly the same call
 * - `retry`: wait a little and look again
 * - `next-attempt`: this attempt's token is spent; start a new attempt
 * - `node-class`: the node class is wrong; its condition says so and launches wait for it
 * - `slow`: only a person can help; look again every few minutes
 */
export type Next = 'try-another' | 'same-again' | 'retry' | 'next-attempt' | 'node-class' | 'slow';

/** Any failure that the outside world gives to the making or unmaking of a machine. */
export abstract class MachineError extends Error {
  /** Stable code of schemas/errors/codes.ts. */
  abstract readonly code: string;
  /** UpperCamelCase, for conditions and metrics. */
  abstract readonly reason: string;
  abstract readonly next: Next;
}
