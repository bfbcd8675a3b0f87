import type { NodeSelectorTerm, PodSpec } from '#schemas/kubernetes/core.ts';

import { fromLabels, fromSelector, intersect, type Requirements } from './requirements.ts';

/**
 * The kinds of node that a Pod accepts; any of them will do. Its selector holds in each. Terms of the required node
 * affinity that no node can satisfy (empty ones), or only a node that is named already (matchFields), are left
 * out, so the list may be empty: then no new node will do. Preferences are not looked at.
 */
export function alternativesOf({ nodeSelector, affinity }: PodSpec): readonly Requirements[] {
  const selector = fromLabels(nodeSelector);
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (!required) return [selector];
  return required.nodeSelectorTerms
    .filter(isOpen)
    .map((term) => intersect(selector, fromSelector(term.matchExpressions ?? [])));
}

function isOpen({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm): boolean {
  return matchExpressions.length > 0 && matchFields.length === 0;
}
