import type { LabelSelector } from '#schemas/kubernetes/meta.ts';

import type { DefaultSpread } from '../solver.ts';
import { isHard, type PodRules, type Spread } from '../topology/terms.ts';

export interface DefaultedRules {
  readonly rules: PodRules;
  readonly selector: LabelSelector;
}

/**
 * What a Pod that has no spread of its own is given, with the selector that its Services and its controller have
 * together. A Pod that nothing selects is given nothing.
 *
 * Source: k8s.io/kubernetes v1.37, plugins/helper/spread.go and podtopologyspread/common.go; Karpenter v1.15,
 * pkg/controllers/provisioning/scheduling/defaultconstraints.go.
 */
export function defaultRules(
  rules: PodRules,
  given: DefaultSpread | undefined,
  key: string,
): DefaultedRules | undefined {
  if (!given || rules.spread.length > 0 || rules.preferredSpread.length > 0) return undefined;
  const selector = merge(given.selectors.get(key) ?? []);
  if (!selector) return undefined;
  const spreads = given.constraints.map((constraint): Spread => ({
    ...constraint,
    labelSelector: selector,
  }));
  const spread = spreads.filter(isHard);
  const preferredSpread = spreads.filter((one) => !isHard(one));
  return { rules: { ...rules, spread, preferredSpread }, selector };
}

/** All must hold; undefined when they say nothing. Of two values for one label both are asked, so nobody has them. */
function merge(selectors: readonly LabelSelector[]): LabelSelector | undefined {
  const matchExpressions = selectors.flatMap(
    ({ matchLabels = {}, matchExpressions: more = [] }) => [
      ...Object.entries(matchLabels).map(([key, value]) => ({
        key,
        operator: 'In' as const,
        values: [value],
      })),
      ...more,
    ],
  );
  return matchExpressions.length > 0 ? { matchExpressions } : undefined;
}
