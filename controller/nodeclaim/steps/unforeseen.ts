import { ApiError, ConnectionError } from '#kube/client/errors.ts';

import { asReason, coded } from '../../reason.ts';

/**
 * What people read of an error that no step foresaw: the API server's refusal in its own words, or that it is away;
 * anything else is a mistake of ours, or something in the world that nobody thought of.
 */
export function unforeseen(error: unknown): { reason: string; message: string } {
  if (error instanceof ApiError) {
    const message = `The API server refuses ${error.verb} ${error.path}: ${error.text}`;
    return { reason: asReason(error.reason), message: coded(message, 'KPU333') };
  }
  const reason = error instanceof ConnectionError ? 'APIServerUnavailable' : 'InternalError';
  const text = error instanceof Error ? error.message : String(error);
  return { reason, message: coded(text, 'KPU333') };
}
