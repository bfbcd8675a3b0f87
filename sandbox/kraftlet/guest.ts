/**
 * Which guests a Pod is, and what its status says of them. Pure.
 * Source: Unikraft's Kubernetes integration page, "Pods to instances" and phases.
 */
import { createHash } from 'node:crypto';

import type { Container, ContainerStatus, Pod, PodStatus } from '#schemas/kubernetes/core.ts';
import type { Condition, Live, ResourceList } from '#schemas/kubernetes/meta.ts';
import { Quantity } from '#schemas/quantity/quantity.ts';
import type { Duration } from '#schemas/time/clock.ts';
import { parseDuration } from '#schemas/time/duration.ts';

import type { GuestSpec } from './platform-client.ts';

/** The sandbox's own: after so long the Pod's guests end, well or badly. */
export const endings = {
  'sandbox.karpenter.unikraft.com/succeeds-after': 'Succeeded',
  'sandbox.karpenter.unikraft.com/fails-after': 'Failed',
} as const;

/** The sandbox's own: so long after its start a request comes for the Pod, which wakes it if it sleeps. */
const requestAfter = 'sandbox.karpenter.unikraft.com/request-after';

/** Read as the vendor's. On by default only for guests behind a Service, which are not modelled. */
const scaleToZero = {
  policy: 'cloud.unikraft.v1.instances/scale_to_zero.policy',
  cooldown: 'cloud.unikraft.v1.instances/scale_to_zero.cooldown_time_ms',
} as const;

const mebibyte = 1n << 20n;

/** One guest for each container, named so that a Kraftlet that starts anew finds them again. */
export function guestsOf(pod: Live<Pod>, node: string): GuestSpec[] {
  return (pod.spec?.containers ?? []).map((container) => ({
    name: createHash('sha256')
      .update(`${pod.metadata.uid}/${container.name}`)
      .digest('hex')
      .slice(0, 32),
    image: container.image ?? '',
    vcpus: Number(sizeOf(container, 'cpu')?.toInteger() ?? 1n) || 1,
    memory_mb: Number(inMiB(sizeOf(container, 'memory')) ?? 128n) || 128,
    tags: [
      tag('kraftlet:node', node),
      podTag(pod.metadata.namespace ?? '', pod.metadata.name),
      tag('k8s.io:container', container.name),
    ],
    ...scalingOf(pod),
  }));
}

function scalingOf({ metadata }: Live<Pod>): Partial<GuestSpec> {
  const { annotations = {} } = metadata;
  const { [scaleToZero.policy]: policy, [requestAfter]: request } = annotations;
  const cooldown = Number(annotations[scaleToZero.cooldown] ?? 1000);
  return {
    ...(policy !== undefined && { scale_to_zero: { policy, cooldown_time_ms: cooldown } }),
    ...(request !== undefined && { sandbox_request_after_ms: parseDuration(request) }),
  };
}

/** The tag by which all guests of a Pod of this name are found. */
export function podTag(namespace: string, name: string): string {
  return tag('k8s.io:pod', `${namespace}.${name}`);
}

const tag = (key: string, value: string): string =>
  `${key}=${value.replaceAll(/[^A-Za-z0-9\-_+.:=]/g, '_')}`.slice(0, 256);

/** What the machine pays: the limit, else the request. */
function sizeOf({ resources }: Container, name: string): Quantity | undefined {
  const at = (list: ResourceList | undefined): string | undefined => list?.[name];
  const text = at(resources?.limits) ?? at(resources?.requests);
  return text === undefined ? undefined : Quantity.parse(text);
}

const inMiB = (quantity: Quantity | undefined): bigint | undefined =>
  quantity && (quantity.toInteger() + mebibyte - 1n) / mebibyte;

/** When a Pod that says so comes to an end, and how; undefined for one that stays. */
export function endOf(pod: Pod): { phase: 'Succeeded' | 'Failed'; after: Duration } | undefined {
  for (const [annotation, phase] of Object.entries(endings)) {
    const text = pod.metadata?.annotations?.[annotation];
    if (text !== undefined) return { phase, after: parseDuration(text) };
  }
  return undefined;
}

export function runningStatus(pod: Live<Pod>, now: string): PodStatus {
  const ip = addressOf(pod.metadata.uid);
  return {
    phase: 'Running',
    startTime: pod.status?.startTime ?? now,
    podIP: ip,
    conditions: withConditions(pod, 'True', undefined, now),
    initContainerStatuses: statuses(pod.spec?.initContainers, false, {
      terminated: { exitCode: 0, reason: 'Completed' },
    }),
    containerStatuses: statuses(pod.spec?.containers, true, { running: { startedAt: now } }),
  };
}

export function endedStatus(
  pod: Pod,
  { phase, reason, message }: { phase: 'Succeeded' | 'Failed'; reason?: string; message?: string },
  now: string,
): PodStatus {
  const done = phase === 'Succeeded';
  const why = reason ?? (done ? 'Completed' : 'Error');
  return {
    phase,
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
    conditions: withConditions(pod, 'False', done ? 'PodCompleted' : 'PodFailed', now),
    containerStatuses: statuses(pod.spec?.containers, false, {
      terminated: { exitCode: done ? 0 : 1, reason: why },
    }),
  };
}

function statuses(
  containers: readonly Container[] = [],
  ready: boolean,
  state: NonNullable<ContainerStatus['state']>,
): ContainerStatus[] {
  return containers.map(({ name, image = '' }) => ({
    name,
    image,
    imageID: '',
    ready,
    restartCount: 0,
    state,
  }));
}

function withConditions(
  pod: Pod,
  ready: 'True' | 'False',
  reason: string | undefined,
  now: string,
): Condition[] {
  const made = (type: string, status: 'True' | 'False'): Condition => {
    const old = pod.status?.conditions?.find((condition) => condition.type === type);
    const since = old?.status === status ? old.lastTransitionTime : undefined;
    return {
      type,
      status,
      lastTransitionTime: since ?? now,
      ...(reason !== undefined && status === 'False' ? { reason } : {}),
    };
  };
  return [made('Initialized', 'True'), made('ContainersReady', ready), made('Ready', ready)];
}

/** In 10.128.0.0/9, from the Pod's UID: endpoints may not hold loopback addresses. */
function addressOf(uid: string): string {
  const [a = 0, b = 0, c = 0] = createHash('sha256').update(uid).digest();
  return `10.${128 + (a & 127)}.${b}.${c}`;
}
