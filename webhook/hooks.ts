import type { CountMachines } from '#schemas/rules/change.ts';

import { injectInto } from './injection.ts';
import type { AdmissionRequest, Decision } from './review.ts';
import type { Settings } from './settings.ts';
import { validate } from './validation.ts';

export type Decide = (request: AdmissionRequest) => Decision;

export interface Hook {
  readonly decide: Decide;
  /** When too much is to do, a call is refused at once rather than kept waiting: the object passes as it is. */
  readonly sheds: boolean;
}

export type Hooks = Readonly<Record<string, Hook>>;

/**
 * What the two webhook configurations call. A hook that may be `Fail` somewhere never sheds: a late answer is better
 * than a refusal there.
 *
 * @param machines see {@link validate}
 */
export function hooks(
  { excludedNamespaces }: Pick<Settings, 'excludedNamespaces'>,
  machines?: CountMachines,
): Hooks {
  const excluded = new Set(excludedNamespaces);
  return {
    '/mutate/pods': { decide: (request) => injectInto(request, { excluded }), sheds: true },
    '/mutate/pods-of-namespace': {
      decide: (request) => injectInto(request, { excluded, byNamespace: true }),
      sheds: true,
    },
    '/validate': { decide: (request) => validate(request, machines), sheds: false },
  };
}
