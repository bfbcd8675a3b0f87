import { createHash } from 'node:crypto';

import type { Container, Pod, PodSpec } from '#schemas/kubernetes/core.ts';

/** Pods as they are in the cache, where an object never changes. */
const known = new WeakMap<Pod, string>();

/**
 * Which Pods a machine would be useless for when it is useless for this one: those of its namespace that ask the same
 * of a node. It is told by what they ask and not by who owns them: each run of a CronJob has an owner of its own, a
 * rollout has a new one, and the same taint keeps all of them off.
 *
 * @returns `<namespace>/<hash>`, the same after a restart
 */
export function groupOf(pod: Pod): string {
  const group = known.get(pod) ?? `${pod.metadata?.namespace ?? ''}/${hashOf(pod.spec)}`;
  known.set(pod, group);
  return group;
}

/** The groups of several Pods, each named once. */
export function groupsOf(pods: readonly (Pod | undefined)[]): string[] {
  return [...new Set(pods.flatMap((pod) => (pod ? groupOf(pod) : [])))];
}

function hashOf(spec: PodSpec | undefined): string {
  return createHash('sha256')
    .update(JSON.stringify(spec ? asks(spec) : null))
    .digest('hex')
    .slice(0, 10);
}

/** What decides where a Pod can be; names, images and commands do not, nor do volumes, which are each Pod's own. */
function asks(spec: PodSpec): unknown {
  const { nodeSelector, affinity, tolerations, topologySpreadConstraints } = spec;
  const { overhead, resources, schedulerName, priority } = spec;
  const containers = [...spec.containers, ...(spec.initContainers ?? [])].map(ofContainer);
  const rules = [nodeSelector, affinity, tolerations, topologySpreadConstraints];
  return [...rules, overhead, resources, schedulerName, priority, containers];
}

function ofContainer({ resources, restartPolicy, ports = [] }: Container): unknown {
  const hostPorts = ports.filter(({ hostPort }) => hostPort !== undefined);
  return [resources?.requests, resources?.limits, restartPolicy, hostPorts];
}
