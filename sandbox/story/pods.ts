import type { Informer } from '#kube/cache/informer.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';

export interface Workload {
  readonly name: string;
  readonly wanted: number;
  readonly running: number;
  /** What the scheduler, or our own event, says about those that wait. */
  readonly waiting: number;
}

/** How many Pods of each workload run, from the cache that the story watches. */
export class PodCount {
  readonly #pods: Informer<Pod>;
  readonly #wanted = new Map<string, number>();
  /** Pods that were once seen running, by UID. */
  readonly #ran = new Set<string>();

  constructor(pods: Informer<Pod>, changed: () => void = () => {}) {
    this.#pods = pods;
    const look = (pod: Live<Pod>): void => {
      if (isRunning(pod)) this.#ran.add(pod.metadata.uid);
      changed();
    };
    pods.subscribe({ add: look, update: look, delete: changed });
  }

  /** @param app value of the label `app` of its Pods */
  want(app: string, replicas: number): void {
    this.#wanted.set(app, replicas);
  }

  get workloads(): readonly Workload[] {
    return [...this.#wanted].map(([name, wanted]) => {
      const own = this.#pods.list().filter((pod) => pod.metadata.labels?.['app'] === name);
      const alive = own.filter((pod) => pod.metadata.deletionTimestamp === undefined);
      const running = alive.filter(isRunning).length;
      return { name, wanted, running, waiting: alive.length - running };
    });
  }

  /** Every workload has just as many Pods as it wants, and all of them run. */
  get settled(): boolean {
    const pods = this.#pods
      .list()
      .filter((pod) => this.#wanted.has(pod.metadata.labels?.['app'] ?? ''));
    const wanted = [...this.#wanted.values()].reduce((sum, count) => sum + count, 0);
    return pods.length === wanted && this.workloads.every((one) => one.running === one.wanted);
  }

  /** How many different Pods have run since the beginning. */
  get ran(): number {
    return this.#ran.size;
  }
}

function isRunning(pod: Live<Pod>): boolean {
  return pod.status?.phase === 'Running';
}
