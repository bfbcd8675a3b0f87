import type { Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import type { Clock, Instant } from '#schemas/time/clock.ts';

import type { Context } from '../context.ts';
import { isOfTheNode, isTerminal } from './pods.ts';

/** When something last happened among a Node's Pods. */
export interface Activity {
  readonly at: Instant;
  /** The same, as the API writes it. */
  readonly stamp: string;
}

/**
 * When a Pod last came to each Node, ended there, or began to leave it; DaemonSet and mirror Pods aside.
 *
 * It is kept in memory, to the millisecond; `status.lastPodEventTime` of the claim is written from it, seldom. After
 * a restart, Pods that are there tell when they were bound.
 *
 * Source: Karpenter v1.15, pkg/controllers/nodeclaim/podevents.
 */
export class PodActivity {
  readonly #clock: Clock;
  /** By Node name. */
  readonly #latest = new Map<string, Activity>();

  constructor({ caches, clock }: Pick<Context, 'caches' | 'clock'>) {
    this.#clock = clock;
    caches.pods.subscribe({
      add: (pod) => this.#boundEarlier(pod),
      update: (pod, old) => {
        if (isEvent(pod, old)) this.#now(pod);
      },
      delete: (pod) => this.#now(pod),
    });
    caches.nodes.subscribe({ delete: ({ metadata }) => this.#latest.delete(metadata.name) });
  }

  latest(node: string): Activity | undefined {
    return this.#latest.get(node);
  }

  #now(pod: Pod): void {
    const node = pod.spec?.nodeName;
    if (!node || isOfTheNode(pod)) return;
    this.#latest.set(node, { at: this.#clock.now(), stamp: this.#clock.stamp() });
  }

  #boundEarlier(pod: Pod): void {
    const node = pod.spec?.nodeName;
    const stamp = boundAt(pod);
    if (!node || stamp === undefined || isOfTheNode(pod)) return;
    const at = this.#clock.from(stamp);
    if (at > (this.latest(node)?.at ?? -Infinity)) this.#latest.set(node, { at, stamp });
  }
}

function boundAt({ metadata, status }: Pod): string | undefined {
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  return scheduled?.lastTransitionTime ?? metadata?.creationTimestamp;
}

/** Whether an update of a Pod is its binding, its end, or the beginning of its end. */
export function isEvent(pod: Live<Pod>, old: Live<Pod>): boolean {
  const isBound = Boolean(pod.spec?.nodeName) && !old.spec?.nodeName;
  const isDone = isTerminal(pod) && !isTerminal(old);
  const { deletionTimestamp } = pod.metadata;
  return isBound || isDone || (deletionTimestamp !== undefined && !old.metadata.deletionTimestamp);
}
