import type { KubeObject } from '#schemas/kubernetes/meta.ts';
import {
  clusterRoleBindings,
  configMaps,
  podDisruptionBudgets,
  secrets,
  serviceAccounts,
  services,
  statefulSets,
  type Resource,
} from '#schemas/kubernetes/resource.ts';

/**
 * What a Kraftlet release may consist of, in the order in which it is taken down: first what runs, last what it
 * was allowed to do.
 */
export const releaseResources: readonly Resource<KubeObject>[] = [
  statefulSets,
  podDisruptionBudgets,
  services,
  configMaps,
  secrets,
  serviceAccounts,
  clusterRoleBindings,
];

/** Throws for a kind that rendering should have refused. */
export function releaseResource({ kind, metadata }: KubeObject): Resource<KubeObject> {
  const found = releaseResources.find((resource) => resource.kind === kind);
  if (!found) throw new Error(`a Kraftlet release cannot hold ${kind} ${metadata?.name}`);
  return found;
}
