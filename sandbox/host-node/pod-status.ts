/** What a Pod's status says of its containers. Source: Kubernetes, "Pod Lifecycle". */
import type { Condition } from '#schemas/kubernetes/meta.ts';

import type { ContainerState } from './container-worker.ts';
import { POD_ADDRESS } from './field-ref.ts';

export interface ContainerView {
  readonly container: { readonly name: string; readonly image?: string };
  readonly state: ContainerState;
  readonly ready: boolean;
  readonly restartCount: number;
}

export interface PodView {
  readonly init: readonly ContainerView[];
  readonly containers: readonly ContainerView[];
  /** RFC 3339. */
  readonly startTime: string;
  /** Set when the containers are not to be started again. */
  readonly over: boolean;
  /** The conditions there are, for the times of their last change. */
  readonly conditions: readonly Condition[];
  readonly now: string;
}

/** The body of a strategic merge patch of `status`: conditions of others, such as PodScheduled, stay. */
export function statusOf(view: PodView) {
  const ready = !view.over && view.containers.every((container) => container.ready);
  const unready = view.containers.filter((container) => !container.ready);
  const why = ready
    ? {}
    : {
        reason: view.over ? 'PodCompleted' : 'ContainersNotReady',
        message: `containers with unready status: [${unready.map(nameOf).join(' ')}]`,
      };
  const initialized = view.init.every(hasSucceeded);
  const wanted = [
    { type: 'PodReadyToStartContainers', status: 'True' },
    { type: 'Initialized', status: initialized ? 'True' : 'False' },
    { type: 'ContainersReady', status: ready ? 'True' : 'False', ...why },
    { type: 'Ready', status: ready ? 'True' : 'False', ...why },
  ] as const;
  return {
    phase: phaseOf(view),
    startTime: view.startTime,
    // No podIP: Endpoints refuse loopback addresses, and their controllers would say so for each Service for ever.
    hostIP: POD_ADDRESS,
    hostIPs: [{ ip: POD_ADDRESS }],
    conditions: wanted.map((condition) => withTime(condition, view)),
    initContainerStatuses: view.init.map(statusOfContainer),
    containerStatuses: view.containers.map(statusOfContainer),
  };
}

function phaseOf({ containers, over }: PodView): string {
  if (over) return containers.every(hasSucceeded) ? 'Succeeded' : 'Failed';
  return containers.some(({ state }) => 'waiting' in state && !hasRun(state))
    ? 'Pending'
    : 'Running';
}

/** A crashed container that waits for its next start belongs to a Pod that runs. */
function hasRun(state: ContainerState): boolean {
  return 'waiting' in state && state.waiting.reason === 'CrashLoopBackOff';
}

function hasSucceeded({ state }: ContainerView): boolean {
  return 'terminated' in state && state.terminated.exitCode === 0;
}

function nameOf({ container }: ContainerView): string {
  return container.name;
}

function statusOfContainer({ container, state, ready, restartCount }: ContainerView) {
  const image = container.image ?? '';
  const started = 'running' in state;
  return { name: container.name, image, imageID: image, ready, started, restartCount, state };
}

function withTime(
  wanted: Pick<Condition, 'type' | 'status'>,
  { conditions, now }: PodView,
): Condition {
  const present = conditions.find(({ type }) => type === wanted.type);
  const unchanged = present?.status === wanted.status ? present.lastTransitionTime : undefined;
  return { ...wanted, lastTransitionTime: unchanged ?? now };
}
