import { inParallel, rejectFirst } from '#controller/provisioning/parallel.ts';
import type { KubeClient } from '#kube/client/client.ts';
import { isAlreadyExists, isConflict, isInvalid, isNotFound } from '#kube/client/errors.ts';
import type { BoundPod } from '#scheduling/solver.ts';
import type { Node, Pod } from '#schemas/kubernetes/core.ts';
import type { KubeObject, Live } from '#schemas/kubernetes/meta.ts';
import {
  events,
  keyText,
  namespaces,
  nodes,
  pods,
  resource,
  serviceAccounts,
  type Key,
} from '#schemas/kubernetes/resource.ts';
import { taints } from '#schemas/names.ts';
import { milliseconds, seconds, type Clock } from '#schemas/time/clock.ts';

import { cordoned, heavyRuntime, spaces } from '../cases/terms.ts';
import { Board } from './board.ts';
import { nodeObject, type Promised } from './node-objects.ts';

/** Calls at a time. */
const width = 16;
/** Nothing in a control plane takes that long, unless it does not come at all. */
const patience = seconds(15);
/** After so long without a change kube-scheduler has nothing more to do: it answers within a tenth of it. */
const rest = milliseconds(200);
/** kube-scheduler lets a Pod wait for 1 s, 2 s, 4 s, … before it looks again, unless it is idle. */
const longestBackOff = milliseconds(2500);
const notReady = 'node.kubernetes.io/not-ready';

/** kube-scheduler, which can be away for a while. */
export interface Scheduler {
  stop(): Promise<void>;
  start(): void;
  /** What it has said since it was started last, at log level 3. */
  log(): Promise<string>;
}

/** A control plane whose Nodes and Pods are those of one case at a time. */
export class Cluster {
  readonly #client: KubeClient;
  readonly #board: Board;
  readonly #scheduler: Scheduler;
  #nudges = 0;

  private constructor(client: KubeClient, board: Board, scheduler: Scheduler) {
    this.#client = client;
    this.#board = board;
    this.#scheduler = scheduler;
  }

  static async prepare(client: KubeClient, clock: Clock, scheduler: Scheduler): Promise<Cluster> {
    const board = await Board.watch(client, clock);
    const cluster = new Cluster(client, board, scheduler);
    await cluster.#create(runtimeClasses, {
      metadata: { name: heavyRuntime },
      handler: 'heavy',
      overhead: { podFixed: { cpu: '250m', memory: '64Mi' } },
    });
    for (const [name, labels] of spaces) {
      // oxlint-disable-next-line no-await-in-loop -- two of them
      await cluster.#create(namespaces, { metadata: { name, labels } });
    }
    await cluster.#accounts(clock);
    return cluster;
  }

  /** Ends what it watches; the control plane goes on. */
  stop(): void {
    this.#board.stop();
  }

  /** Namespace → labels, those included that Kubernetes itself has. */
  async namespaceLabels(): Promise<Map<string, Record<string, string>>> {
    const { items } = await this.#client.list(namespaces);
    return new Map(items.map(({ metadata }) => [metadata.name, metadata.labels ?? {}]));
  }

  /** Makes Nodes and waits until nothing but being closed keeps Pods off them. */
  async make(
    all: readonly Promised[],
    { isClosed }: { readonly isClosed: boolean },
  ): Promise<void> {
    await each(all, (node) => this.#client.create(nodes, nodeObject(node, { isClosed })));
    const isUp = ({ name }: Promised): boolean => isReady(this.#board.node(name));
    const isDone = await this.#board.until(() => all.every(isUp), patience);
    if (!isDone) throw new Error('Nodes were made that never came to be ready');
  }

  /**
   * Nobody new comes to these. Resolves once they have the taint that says so, since spreads that honour taints look at
   * that, and not at what cordoned them.
   *
   * Source: k8s.io/kubernetes v1.37, pkg/scheduler/framework/plugins/podtopologyspread/common.go.
   */
  async cordon(names: readonly string[]): Promise<void> {
    const body = { spec: { unschedulable: true } };
    await each(names, (name) => this.#client.patch(nodes, { name }, { type: 'merge', body }));
    const isShut = (name: string): boolean =>
      this.#board.node(name)?.spec?.taints?.some(({ key }) => key === cordoned.key) ?? false;
    const isDone = await this.#board.until(() => names.every(isShut), patience);
    if (!isDone) throw new Error('Nodes were cordoned that never came to be tainted');
  }

  /** Opens closed Nodes, each by one patch. */
  async open(names: readonly string[]): Promise<void> {
    await each(names, (name) => {
      const left = this.#board.node(name)?.spec?.taints ?? [];
      const body = { spec: { taints: left.filter(({ key }) => key !== taints.unregistered.key) } };
      return this.#client.patch(nodes, { name }, { type: 'merge', body });
    });
  }

  /** While it acts there is no kube-scheduler; the one that comes after sees all that was done at once. */
  async inOneMoment(act: () => Promise<void>): Promise<void> {
    await this.#scheduler.stop();
    await act();
    this.#scheduler.start();
  }

  async occupy(bound: readonly BoundPod[]): Promise<void> {
    await this.submit(
      bound.map(({ pod, on }) => ({ ...pod, spec: { containers: [], ...pod.spec, nodeName: on } })),
    );
  }

  async submit(all: readonly Pod[]): Promise<void> {
    await each(all, (pod) => this.#client.create(pods, pod));
    await this.#board.until(() => all.every((pod) => this.pod(keyOf(pod)) !== undefined), patience);
  }

  /** Takes Pods (namespace/name) away. */
  async withdraw(keys: readonly string[]): Promise<void> {
    await each(keys, (key) => this.#remove(pods, keyFrom(key)));
    await this.#board.until(() => keys.every((key) => this.pod(key) === undefined), patience);
  }

  /** Tells kube-scheduler where Pods (namespace/name) are to go. Those that are bound by now are left alone. */
  async nominate(targets: ReadonlyMap<string, string>): Promise<void> {
    await each([...targets], ([key, nominatedNodeName]) =>
      this.#client
        .patch(
          pods,
          keyFrom(key),
          { type: 'merge', body: { status: { nominatedNodeName } } },
          { subresource: 'status' },
        )
        .catch((error: unknown) => {
          if (!isConflict(error) && !isInvalid(error)) throw error;
        }),
    );
  }

  /** Resolves once kube-scheduler has either bound or given up every Pod, and has come to rest. */
  async settled(): Promise<void> {
    const isJudged = (pod: Live<Pod>): boolean => isBound(pod) || isGivenUp(pod);
    const isDone = await this.#board.until(() => this.#board.pods.every(isJudged), patience);
    if (!isDone) throw new Error('kube-scheduler never looked at some Pods');
    await this.#board.quiet(rest);
  }

  /**
   * Resolves once each of these Pods is bound, or kube-scheduler has given it up as Nodes are now, and rests.
   *
   * kube-scheduler does not look again at a Pod that only rules of others kept off when a Node is added; its own flush,
   * every five minutes, would. A label that changes does the same at once.
   */
  async settledSince(keys: readonly string[]): Promise<void> {
    const isJudged = (key: string): boolean => {
      const pod = this.pod(key);
      return isBound(pod) || (pod !== undefined && this.#isFresh(pod));
    };
    const isDone = (): boolean => keys.every(isJudged);
    if (!(await this.#board.until(isDone, longestBackOff))) {
      await this.#nudge(keys.filter((key) => !isJudged(key)));
      await this.#board.until(isDone, longestBackOff);
    }
    await this.settled();
  }

  /** Pods that had to be brought to kube-scheduler's mind. */
  get nudges(): number {
    return this.#nudges;
  }

  async #nudge(keys: readonly string[]): Promise<void> {
    this.#nudges += keys.length;
    const body = { metadata: { labels: { nudged: `${this.#nudges}` } } };
    await each(keys, (key) => this.#client.patch(pods, keyFrom(key), { type: 'merge', body }));
  }

  /** kube-scheduler says how many Nodes it looked at, and what kept it off them. */
  #isFresh(pod: Pod): boolean {
    const said = whyWaiting(pod) ?? '';
    return (
      said.startsWith(`0/${this.#board.nodes.length} `) && !said.includes(taints.unregistered.key)
    );
  }

  pod(key: string): Live<Pod> | undefined {
    return this.#board.pod(key);
  }

  /**
   * Pods (namespace/name) in the order in which kube-scheduler has tried them since it was started last, each as often as it
   * was. It finds places for one after the other and binds many at once, so that the order in which they are seen to be
   * bound is not the one in which they got their places.
   *
   * Source: k8s.io/kubernetes v1.37, pkg/scheduler/schedule_one.go, scheduleOnePod.
   */
  async tried(): Promise<readonly string[]> {
    const log = await this.#scheduler.log();
    return [...log.matchAll(/"Attempting to schedule pod" pod="([^"]+)"/g)].map(
      ([, key = '']) => key,
    );
  }

  /** Pods that have a node. */
  get bound(): readonly Live<Pod>[] {
    return this.pods.filter(isBound);
  }

  get pods(): readonly Live<Pod>[] {
    return this.#board.pods;
  }

  /** What kube-scheduler said last about a Pod: its event and the Pod's condition. */
  async saidOf(key: string): Promise<string> {
    const { namespace = '', name } = keyFrom(key);
    const fieldSelector = `involvedObject.name=${name}`;
    const { items } = await this.#client.list(events, { namespace, fieldSelector });
    const last = items.map(({ reason, message }) => `${reason}: ${message}`).at(-1);
    const condition = this.pod(key)?.status?.conditions?.find(
      ({ type }) => type === 'PodScheduled',
    );
    return condition?.message ?? last ?? 'nothing';
  }

  /** Removes all Nodes and Pods. Nodes first, so that no Pod is bound in between. */
  async clear(): Promise<void> {
    await each(this.#board.nodes, ({ metadata: { name } }) => this.#remove(nodes, { name }));
    await each(this.#board.pods, ({ metadata: { namespace = '', name } }) =>
      this.#remove(pods, { namespace, name }),
    );
    const isEmpty = (): boolean => this.#board.nodes.length + this.#board.pods.length === 0;
    if (!(await this.#board.until(isEmpty, patience)))
      throw new Error('what a case left behind did not go');
  }

  async #remove(kind: typeof nodes | typeof pods, key: Key): Promise<void> {
    await this.#client.delete(kind, key, { gracePeriodSeconds: 0 }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }

  async #create(kind: typeof runtimeClasses, object: object): Promise<void> {
    await this.#client.create(kind, object as KubeObject).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
  }

  /** A namespace refuses Pods until it has its default ServiceAccount. */
  async #accounts(clock: Clock): Promise<void> {
    for (const namespace of spaces.keys()) {
      const has = async (): Promise<boolean> => {
        const { items } = await this.#client.list(serviceAccounts, { namespace });
        return items.length > 0;
      };
      // oxlint-disable-next-line no-await-in-loop -- each look follows a pause
      while (!(await has())) await clock.sleep(milliseconds(50));
    }
  }
}

const runtimeClasses = resource<KubeObject>(
  'node.k8s.io/v1',
  'RuntimeClass',
  'runtimeclasses',
  'Cluster',
);

async function each<T>(items: readonly T[], act: (item: T) => Promise<unknown>): Promise<void> {
  rejectFirst(await inParallel(items, width, act));
}

export function keyOf({ metadata }: Pod): string {
  const { namespace = '', name = '' } = metadata ?? {};
  return keyText({ namespace, name });
}

function keyFrom(key: string): Key {
  const [namespace = '', name = ''] = key.split('/');
  return { namespace, name };
}

export function isBound(pod: Pod | undefined): boolean {
  return Boolean(pod?.spec?.nodeName);
}

function isGivenUp({ status }: Pod): boolean {
  return (status?.conditions ?? []).some(
    ({ type, status: is }) => type === 'PodScheduled' && is === 'False',
  );
}

function whyWaiting({ status }: Pod): string | undefined {
  return status?.conditions?.find(({ type }) => type === 'PodScheduled')?.message;
}

/** Admission closes every Node at birth until it is known to be ready. */
function isReady(node: Live<Node> | undefined): boolean {
  return node !== undefined && !(node.spec?.taints ?? []).some(({ key }) => key === notReady);
}
