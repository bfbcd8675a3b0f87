import { isTrue } from '#kube/conditions.ts';
import type { ReleaseRequest } from '#machine/kraftlet/release.ts';
import { capacityOf } from '#schemas/instances/capacity.ts';
import type { Node, Pod, StatefulSet } from '#schemas/kubernetes/core.ts';
import type { Live, ResourceList } from '#schemas/kubernetes/meta.ts';
import { nodes, pods, statefulSets } from '#schemas/kubernetes/resource.ts';
import { finalizers, labels, taints } from '#schemas/names.ts';

import type { FakeCloud } from './fake-cloud.ts';
import { requestAnnotation, type FakePlatform } from './fake-machines.ts';
import type { MemoryClient } from './memory-client.ts';

/**
 * What Kubernetes and Kraftlet do by themselves, one look at a time: a Pod for each StatefulSet of a release, a Node
 * for each such Pod (made once, at its start), guests that are bound, come and go while Kraftlet and the machine live.
 */
export class FakeKraftlets {
  readonly #client: MemoryClient;
  readonly #cloud: FakeCloud;
  readonly #platform: FakePlatform;
  /** UIDs of Pods that have made their Node. */
  readonly #started = new Set<string>();
  /** Nodes stay NotReady. */
  isNotReady = false;
  /** What Nodes say beside the quotas of their platform, or instead of them. */
  offers: ResourceList = {};
  /** Kraftlet Pods find no room. */
  isPending = false;

  constructor(client: MemoryClient, cloud: FakeCloud, platform: FakePlatform) {
    this.#client = client;
    this.#cloud = cloud;
    this.#platform = platform;
  }

  async act(): Promise<void> {
    const sets = this.#client.all(statefulSets);
    const kept = new Set(sets.map(({ metadata }) => metadata.name));
    for (const pod of this.#client.all(pods)) this.#tidy(pod, kept);
    this.#schedule();
    for (const set of sets) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other, so that a story is the same each time
      await this.#run(set);
    }
  }

  /** Pods that wait go to the first Node that is open. */
  #schedule(): void {
    const nodeName = this.#client.all(nodes).find(isOpen)?.metadata.name;
    if (nodeName === undefined) return;
    for (const pod of this.#client.all(pods)) {
      const isGuest = pod.metadata.labels?.[labels.claimUid] === undefined;
      const waits =
        pod.spec?.nodeName === undefined && pod.metadata.deletionTimestamp === undefined;
      const spec = { containers: [], ...pod.spec, nodeName };
      if (isGuest && waits) this.#client.seed(pods, { ...pod, spec });
    }
  }

  /** The Kraftlet Pod goes with its StatefulSet, unless it waits for its kubelet's word. */
  #tidy(pod: Live<Pod>, sets: ReadonlySet<string>): void {
    const { namespace = '', name, deletionGracePeriodSeconds } = pod.metadata;
    if (deletionGracePeriodSeconds !== undefined) return;
    const isKraftlet = pod.metadata.labels?.[labels.claimUid] !== undefined;
    if (isKraftlet && !sets.has(name.replace(/-0$/, ''))) {
      this.#client.remove(pods, { namespace, name });
    }
  }

  async #run(set: Live<StatefulSet>): Promise<void> {
    const { name } = set.metadata;
    const pod = this.#pod(set);
    if (this.isPending) return;
    const status = { ...set.status, replicas: 1, readyReplicas: 1 };
    if (set.status?.readyReplicas !== 1) this.#client.seed(statefulSets, { ...set, status });
    const text = set.metadata.annotations?.[requestAnnotation] ?? '';
    const request = JSON.parse(text) as ReleaseRequest;
    if (!this.#started.has(pod.metadata.uid)) {
      this.#started.add(pod.metadata.uid);
      if (!this.#client.peek(nodes, { name })) await this.#makeNode(request);
    }
    this.#follow(request);
    if (this.#cloud.at(request.endpoint.address)) this.#serve(name);
  }

  #pod({ metadata }: Live<StatefulSet>): Live<Pod> {
    const key = { namespace: metadata.namespace ?? '', name: `${metadata.name}-0` };
    const present = this.#client.peek(pods, key);
    if (present) return present;
    const unscheduled = {
      type: 'PodScheduled',
      status: 'False' as const,
      reason: 'Unschedulable',
      message: '0/1 nodes are available',
    };
    return this.#client.seed(pods, {
      metadata: { ...key, labels: { ...metadata.labels } },
      spec: { containers: [{ name: 'kraftlet' }] },
      status: this.isPending ? { phase: 'Pending', conditions: [unscheduled] } : {},
    });
  }

  async #makeNode({ identity, endpoint, nodeLabels, nodeTaint, providerID }: ReleaseRequest) {
    const quotas = await this.#platform.quotas(endpoint).catch(() => undefined);
    if (!quotas) return this.#started.clear(); // it ends, and is started again
    const capacity = { ...capacityOf(quotas, undefined), ...this.offers };
    this.#client.seed(nodes, {
      metadata: { name: identity.name, labels: { ...nodeLabels, [labels.virtualKubelet]: 'true' } },
      spec: { providerID, taints: [nodeTaint] },
      status: { capacity, allocatable: capacity, conditions: [{ type: 'Ready', status: 'False' }] },
    });
  }

  /** Its Node is Ready one look after it was made. */
  #follow({ identity }: ReleaseRequest): void {
    const node: Live<Node> | undefined = this.#client.peek(nodes, { name: identity.name });
    if (!node || this.isNotReady || isTrue(node.status?.conditions, 'Ready')) return;
    const conditions = [{ type: 'Ready', status: 'True' as const }];
    this.#client.seed(nodes, { ...node, status: { ...node.status, conditions } });
  }

  #serve(nodeName: string): void {
    for (const pod of this.#client.all(pods)) {
      if (pod.spec?.nodeName !== nodeName) continue;
      const { namespace = '', name, deletionTimestamp, finalizers: present = [] } = pod.metadata;
      const isKept = present.includes(finalizers.kraftletPod);
      if (deletionTimestamp !== undefined) this.#client.remove(pods, { namespace, name });
      else if (!isKept) this.#accept(pod, present);
    }
  }

  #accept(pod: Live<Pod>, present: readonly string[]): void {
    const held = [...present, finalizers.kraftletPod];
    this.#client.seed(pods, {
      ...pod,
      metadata: { ...pod.metadata, finalizers: held },
      status: { ...pod.status, phase: 'Running' },
    });
  }
}

function isOpen({ spec, status }: Node): boolean {
  const closing: readonly string[] = [taints.unregistered.key, taints.disrupted.key];
  const isClosed = spec?.taints?.some(({ key }) => closing.includes(key));
  return !isClosed && isTrue(status?.conditions, 'Ready');
}
