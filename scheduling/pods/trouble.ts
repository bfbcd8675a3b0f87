import { labels } from '#schemas/names.ts';

import type { Miss } from '../explain.ts';
import type { Problem } from '../solver.ts';
import type { NamespaceSets } from '../topology/namespaces.ts';
import { allTerms } from '../topology/terms.ts';
import type { PodKind } from './group.ts';

/** What would need facts that are not there: refused rather than guessed. */
export function troubleOf(
  kind: PodKind,
  problem: Problem,
  namespaces: NamespaceSets,
): Miss | undefined {
  const unsupported = deviceTrouble(kind) ?? ruleTrouble(kind, problem, namespaces);
  if (unsupported !== undefined)
    return { reason: 'Unsupported', message: `has ${unsupported}, which is not supported` };
  return volumeTrouble(kind);
}

function deviceTrouble({ form }: PodKind): string | undefined {
  const { resourceClaims } = form.spec as { resourceClaims?: unknown[] };
  return resourceClaims?.length ? 'dynamic resource claims' : undefined;
}

function ruleTrouble(
  { rules }: PodKind,
  { bound }: Problem,
  namespaces: NamespaceSets,
): string | undefined {
  const terms = allTerms(rules);
  if (terms.some((term) => !namespaces.canTell(term)))
    return 'a rule about namespaces whose labels are not known';
  if (bound !== undefined) return undefined;
  const isElsewhere = ({ topologyKey }: { topologyKey: string }): boolean =>
    topologyKey !== labels.hostname;
  if (rules.affinity.length > 0) return 'required pod affinity';
  if (rules.antiAffinity.some(isElsewhere))
    return `required pod anti-affinity over anything but ${labels.hostname}`;
  if (rules.spread.some(isElsewhere))
    return `a DoNotSchedule topology spread over anything but ${labels.hostname}`;
  return undefined;
}

function volumeTrouble({ form, volumes }: PodKind): Miss | undefined {
  if (volumes?.trouble) return { reason: 'Unsupported', ...volumes.trouble };
  const isBound = form.spec.volumes?.some(
    (volume) => 'persistentVolumeClaim' in volume || 'ephemeral' in volume,
  );
  if (!isBound || volumes) return undefined;
  return { reason: 'Unsupported', message: 'has a volume with a claim of which nothing is known' };
}
