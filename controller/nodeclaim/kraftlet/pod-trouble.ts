import type { ContainerStatus, Pod } from '#schemas/kubernetes/core.ts';

import { coded } from '../../reason.ts';

/** Reasons of a waiting container that do not pass by themselves soon. */
const stuck = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'CreateContainerConfigError',
  'CreateContainerError',
  'CrashLoopBackOff',
]);

export interface Trouble {
  readonly reason: string;
  readonly message: string;
}

/**
 * Why a Kraftlet Pod cannot start, in the cluster's own words: no node for it, no image, or a program that ends.
 * @returns undefined while nothing speaks against it
 */
export function podTrouble(pod: Pod): Trouble | undefined {
  const found = troubleOf(pod);
  return found && { reason: found.reason, message: coded(found.message, 'KPU327') };
}

/** The same without a code, for a sentence that has one of its own. */
export function troubleOf(pod: Pod): Trouble | undefined {
  const found = unscheduled(pod) ?? stuckContainer(pod);
  if (!found) return undefined;
  const message = `Kraftlet Pod ${pod.metadata?.name ?? ''}: ${found.message}`;
  return { reason: found.reason, message };
}

function unscheduled({ status }: Pod): Trouble | undefined {
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  if (scheduled?.status !== 'False') return undefined;
  const { reason = 'Unschedulable', message = 'no reason given' } = scheduled;
  return { reason: `KraftletPod${reason}`, message };
}

function stuckContainer({ status }: Pod): Trouble | undefined {
  const container = status?.containerStatuses?.find(isStuck);
  const waiting = container?.state?.waiting;
  if (!container || !waiting) return undefined;
  const { reason = 'Waiting', message = `image ${container.image ?? 'unknown'}` } = waiting;
  return { reason: `Kraftlet${reason}`, message };
}

function isStuck({ state }: ContainerStatus): boolean {
  return state?.waiting?.reason !== undefined && stuck.has(state.waiting.reason);
}
