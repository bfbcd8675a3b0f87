import { isTrue } from '#kube/conditions.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';

import type { Context } from '../context.ts';
import { isOurs } from '../ours.ts';
import type { Reservations } from '../reservations/reservations.ts';

export interface Target {
  readonly trigger: (key: string) => void;
  readonly isPending: (pod: Pod) => boolean;
  readonly claimGone: (name: string) => void;
  readonly poolGone: (name: string) => void;
}

/**
 * What opens a batch window: a Pod that becomes pending, and, since it may help one that is, a claim that ends or
 * opens, a pool or node class that changes, and room that comes back. Heartbeats of Nodes do not.
 */
export function subscribeTriggers(
  { caches }: Context,
  reservations: Reservations,
  target: Target,
  signal: AbortSignal,
): void {
  let isFirstState = true; // the first pass looks at all of it
  const pod = (object: Live<Pod>): void => {
    if (!isFirstState && target.isPending(object)) target.trigger(object.metadata.uid);
  };
  const stops = [
    caches.pods.subscribe({ add: pod, update: pod }),
    caches.nodeClaims.subscribe({
      update: (claim, old) => {
        if (isOurs(claim) && stageOf(claim) !== stageOf(old)) target.trigger('claim');
      },
      delete: ({ metadata }) => {
        target.claimGone(metadata.name);
        target.trigger('claim');
      },
    }),
    caches.nodePools.subscribe({
      add: () => target.trigger('pool'),
      update: (pool, old) => {
        if (isOurs(pool) && stageOf(pool) !== stageOf(old)) target.trigger('pool');
      },
      delete: ({ metadata }) => target.poolGone(metadata.name),
    }),
    caches.nodeClasses.subscribe({
      update: (nodeClass, old) => {
        if (nodeClass.status?.currentRevision !== old.status?.currentRevision)
          target.trigger('class');
      },
    }),
    caches.quotaPolicies.subscribe({
      update: (policy, old) => {
        if (policy.metadata.generation !== old.metadata.generation) target.trigger('quota');
      },
      delete: () => target.trigger('quota'),
    }),
    reservations.subscribe(() => target.trigger('room')),
  ];
  isFirstState = false;
  signal.addEventListener('abort', () => stops.forEach((stop) => stop()), { once: true });
}

/** The part of a claim or pool that decides whether Pods may count on it. */
function stageOf({ metadata, status }: Parameters<typeof isOurs>[0]): string {
  const { generation, deletionTimestamp } = metadata ?? {};
  const stages = ['Registered', 'Initialized', 'Ready'].map((type) =>
    isTrue(status?.conditions, type),
  );
  return JSON.stringify([generation, deletionTimestamp, stages]);
}
