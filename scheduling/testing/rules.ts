/** Rules between Pods, in few words. Selectors are the labels of the Pods that are meant. */
import type { Pod, PodSpec } from '#schemas/kubernetes/core.ts';

import type { PodTerm, Spread } from '../topology/terms.ts';
import { pod } from './build.ts';

export type Labels = Record<string, string>;

/** So many Pods that have the labels, named by the letter. */
export function labelled(
  count: number,
  labels: Labels,
  spec: Partial<PodSpec> = {},
  { name = 'p', cpu = '1', namespace = 'shop' } = {},
): Pod[] {
  return Array.from({ length: count }, (_, index) => {
    const plain = pod(`${name}${index}`, { cpu }, spec);
    return { ...plain, metadata: { ...plain.metadata, namespace, labels } };
  });
}

export function spread(
  topologyKey: string,
  matchLabels: Labels,
  parts: Partial<Spread> = {},
): Partial<PodSpec> {
  const constraint = {
    topologyKey,
    maxSkew: 1,
    whenUnsatisfiable: 'DoNotSchedule',
    labelSelector: { matchLabels },
    ...parts,
  };
  return { topologySpreadConstraints: [constraint] };
}

/** A Pod must be in a domain with such Pods. */
export function near(key: string, labels: Labels, parts: Partial<PodTerm> = {}): Partial<PodSpec> {
  return { affinity: { podAffinity: required(key, labels, parts) } };
}

/** A Pod must be in a domain without such Pods. */
export function apart(key: string, labels: Labels, parts: Partial<PodTerm> = {}): Partial<PodSpec> {
  return { affinity: { podAntiAffinity: required(key, labels, parts) } };
}

/** As {@link apart}, while it can be. */
export function ratherApart(key: string, matchLabels: Labels, weight = 1): Partial<PodSpec> {
  const podAffinityTerm = { topologyKey: key, labelSelector: { matchLabels } };
  const preferred = [{ weight, podAffinityTerm }];
  return {
    affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred } },
  };
}

function required(topologyKey: string, matchLabels: Labels, parts: Partial<PodTerm>) {
  const term = { topologyKey, labelSelector: { matchLabels }, ...parts };
  return { requiredDuringSchedulingIgnoredDuringExecution: [term] };
}
