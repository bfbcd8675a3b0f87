import type { ConditionChange } from '#kube/conditions.ts';

import type { Trouble } from './trouble.ts';

/** The cloud is not there at all, which a class tells even while all that was known of it holds. */
export function isUnreachable(trouble: Trouble | undefined): trouble is Trouble {
  return trouble?.reason === 'CloudUnreachable';
}

/**
 * Whether the cloud of a class answers, by what came of looking the class up in it. Ready does not hang on it: machines
 * go on, and which revision can be used has not changed.
 *
 * @returns undefined when nobody knows: it is busy, or failed in another way than by silence
 */
export function reachIn(asked: {
  value?: unknown;
  trouble?: Trouble;
}): ConditionChange | undefined {
  const type = 'CloudReachable';
  const { value, trouble } = asked;
  if (value !== undefined || trouble?.definite === true) return { type, status: 'True' };
  if (!isUnreachable(trouble)) return undefined;
  const { reason, message } = trouble;
  return { type, status: 'False', reason, message };
}
