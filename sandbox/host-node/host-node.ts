/**
 * A Node whose Pods are programs of this computer. The real scheduler binds Pods to it and the real controllers
 * make them, so Deployments and StatefulSets run here as they were applied, without containers.
 */
import { SharedInformer } from '#kube/cache/shared-informer.ts';
import { silentLogger, type Logger } from '#kube/log.ts';
import type { Pod, Taint } from '#schemas/kubernetes/core.ts';
import type { Live, ResourceList } from '#schemas/kubernetes/meta.ts';
import { leases, nodes, pods } from '#schemas/kubernetes/resource.ts';
import { seconds, type Clock } from '#schemas/time/clock.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

import type { ControlPlane } from '../control-plane/control-plane.ts';
import type { Run } from '../processes/run.ts';
import type { Backend } from '../processes/tcp-balancer.ts';
import type { HostContext } from './launch.ts';
import { nodeLease, nodeObject, PLENTY, type NodeShape } from './node-object.ts';
import { PodWorker } from './pod-worker.ts';
import type { Programs } from './program.ts';

export interface HostNodeOptions {
  readonly plane: Pick<ControlPlane, 'admin' | 'port'>;
  readonly run: Run;
  readonly programs: Programs;
  readonly clock?: Clock;
  readonly log?: Logger;
  /** Default `host`. */
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly Taint[];
  readonly allocatable?: ResourceList;
}

export class HostNode {
  readonly name: string;
  readonly #context: HostContext;
  readonly #informer: SharedInformer<Pod>;
  readonly #workers = new Map<string, PodWorker>();
  readonly #stop = new AbortController();
  readonly #loops: Promise<unknown>[] = [];

  private constructor(shape: NodeShape, context: HostContext) {
    this.name = shape.name;
    this.#context = context;
    this.#informer = new SharedInformer(context.client, pods, {
      clock: context.clock,
      log: context.log,
      fieldSelector: `spec.nodeName=${shape.name}`,
    });
    this.#informer.subscribe({
      add: (pod) => this.#see(pod),
      update: (pod) => this.#see(pod),
      delete: (pod) => this.#lose(pod),
    });
  }

  /** Resolves once the Node exists and Pods bound to it will run. @throws ApiError when the Node cannot be made */
  static async start(options: HostNodeOptions): Promise<HostNode> {
    const { clock = new SystemClock(), log = silentLogger, plane, run, programs } = options;
    const shape = {
      name: options.name ?? 'host',
      labels: options.labels ?? {},
      taints: options.taints ?? [],
      allocatable: options.allocatable ?? PLENTY,
    };
    const client = plane.admin;
    const { metadata } = await client.create(nodes, nodeObject(shape, clock.stamp()));
    const context = { client, apiPort: plane.port, run, clock, log, programs };
    const host = new HostNode(shape, context);
    host.#loops.push(host.#informer.run(host.#stop.signal), host.#renew(metadata.uid));
    await host.#informer.whenSynced(host.#stop.signal);
    return host;
  }

  /** Where the ready Pods with these labels serve a container port: what an EndpointSlice would say. */
  backends(
    { namespace, labels }: { readonly namespace: string; readonly labels: Record<string, string> },
    port: number,
  ): Backend[] {
    return this.#informer
      .list()
      .filter(
        ({ metadata }) => metadata.namespace === namespace && hasLabels(metadata.labels, labels),
      )
      .flatMap(({ metadata }) => this.#workers.get(metadata.uid)?.backend(port) ?? []);
  }

  /** As when its kubelet dies, or its network: its Pods run on, and nobody hears of them or of it. */
  cutOff(): void {
    this.#stop.abort();
  }

  /** Ends all Pods at once, without a word to the API server. */
  async stop(): Promise<void> {
    this.#stop.abort();
    for (const worker of this.#workers.values()) worker.forget();
    await Promise.all([...this.#loops, ...[...this.#workers.values()].map(({ done }) => done)]);
  }

  #see(pod: Live<Pod>): void {
    const { uid } = pod.metadata;
    const known = this.#workers.get(uid);
    if (known) return known.update(pod);
    if (this.#stop.signal.aborted || hasEnded(pod)) return;
    this.#workers.set(uid, new PodWorker(pod, this.#context));
  }

  /** Only now: a worker that is done keeps its place, lest a late event of its Pod start another one. */
  #lose(pod: Live<Pod>): void {
    const { uid } = pod.metadata;
    const worker = this.#workers.get(uid);
    worker?.forget();
    void worker?.done.then(() => this.#workers.delete(uid));
  }

  async #renew(uid: string): Promise<void> {
    const { client, clock, log } = this.#context;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const renewTime = microTime(clock);
      const body = nodeLease(this.name, uid, renewTime);
      const key = { namespace: 'kube-node-lease', name: this.name };
      // oxlint-disable-next-line no-await-in-loop -- each 10 s
      await client
        .patch(leases, key, { type: 'apply', body, force: true }, { signal })
        .catch((error: unknown) =>
          log.warn({ err: error }, 'cannot renew the Lease of the host node'),
        );
      // oxlint-disable-next-line no-await-in-loop -- as above
      await clock.sleep(seconds(10), signal).catch(() => {}); // the loop sees the abort
    }
  }
}

/** Leases want microseconds. */
function microTime(clock: Clock): string {
  return clock.stamp().replace('Z', '.000000Z');
}

function hasEnded({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

function hasLabels(labels: Record<string, string> = {}, wanted: Record<string, string>): boolean {
  return Object.entries(wanted).every(([key, value]) => labels[key] === value);
}
