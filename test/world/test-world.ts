import { SharedInformer } from '#kube/cache/shared-informer.ts';
import type { KubeClient } from '#kube/client/client.ts';
/**
 * The vocabulary of integration tests, after Karpenter's own expectations: a test reads as a story.
 *
 * The API server, scheduler, controllers, cloud and machines run in real time; the operator's clock runs with it and
 * can be moved forward, so that deadlines pass without waiting.
 */
import { isNotFound } from '#kube/client/errors.ts';
import { getCondition, isTrue } from '#kube/conditions.ts';
import { silentLogger } from '#kube/log.ts';
import type { SandboxCloud } from '#sandbox/cloud/cloud.ts';
import { HostNode } from '#sandbox/host-node/host-node.ts';
import type { Programs } from '#sandbox/host-node/program.ts';
import { applyAll, deleteAll } from '#sandbox/manifests/apply.ts';
import type { Manifest } from '#sandbox/manifests/render.ts';
import type { Tools } from '#sandbox/tools/tools.ts';
import { isClean, leaksOf, type Leaks } from '#sandbox/world/leaks.ts';
import { World } from '#sandbox/world/world.ts';
import { nodeClaims, type NodeClaim } from '#schemas/karpenter/types.ts';
import type { Event, Node, Pod } from '#schemas/kubernetes/core.ts';
import type { Condition, KubeObject, Live } from '#schemas/kubernetes/meta.ts';
import { events, nodes, pods, type Resource } from '#schemas/kubernetes/resource.ts';
import { labels, manager } from '#schemas/names.ts';
import { unikraftNodeClasses, type UnikraftNodeClass } from '#schemas/nodeclass/types.ts';
import { seconds, type Duration } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

import { inProcessKraftlet, type Between } from './in-process-kraftlet.ts';
import { OperatorInProcess, type Load } from './operator-in-process.ts';
import { tellClaim, tellEvent, tellNode, tellPod } from './telling.ts';

/** Worlds share two cores in a full run: what takes ten seconds alone may take forty. */
const patience = seconds(90);

/** As whom the operator is known to the API server. */
export const operatorUser =
  'system:serviceaccount:karpenter-unikraft:karpenter-unikraft-controller';

export class TestWorld {
  readonly world: World;
  readonly clock: FakeClock;
  readonly #seenNodes = new Set<string>();
  readonly #watching = new AbortController();
  readonly #settings: NodeJS.ProcessEnv;
  readonly #programs: Programs;
  readonly #hosts: HostNode[] = [];
  #operator: OperatorInProcess | undefined;

  private constructor(
    world: World,
    clock: FakeClock,
    { settings = {}, programs }: { settings?: NodeJS.ProcessEnv | undefined; programs: Programs },
  ) {
    this.world = world;
    this.#settings = settings;
    this.#programs = programs;
    this.clock = clock;
    const watched = new SharedInformer<Node>(this.client, nodes, {
      clock: new SystemClock(),
      log: silentLogger,
      labelSelector: labels.nodeClass,
    });
    watched.subscribe({ add: ({ metadata }) => this.#seenNodes.add(metadata.name) });
    void watched.run(this.#watching.signal);
  }

  /**
   * @param tools `inject('tools')`
   * @param options  `schedulerConfig`: the KubeSchedulerConfiguration that kube-scheduler runs by; `settings`: the operator's;
   *   `between`: what stands between each Kraftlet and the API server
   */
  static async start(
    tools: Tools,
    options: {
      operator?: boolean;
      policies?: boolean;
      schedulerConfig?: object;
      settings?: NodeJS.ProcessEnv | ((cloud: SandboxCloud) => NodeJS.ProcessEnv);
      between?: Between;
    } = {},
  ): Promise<TestWorld> {
    const dns = { server: '' };
    const programs = {
      'ghcr.io/unikraft-cloud/kraftlet': inProcessKraftlet(() => dns.server, options.between),
    };
    const world = await World.start({
      tools,
      processes: false,
      machineProcesses: false,
      programs,
      policies: options.policies !== false,
      schedulerConfig: options.schedulerConfig,
      webhookPort: () => undefined, // nobody answers, and both hooks are Ignore
    });
    dns.server = world.cloud.dnsServer;
    const { settings: given } = options;
    const settings = typeof given === 'function' ? given(world.cloud) : given;
    const test = new TestWorld(world, new FakeClock({ real: Date.now }), { settings, programs });
    if (options.operator !== false) await test.startOperator();
    return test;
  }

  get client(): KubeClient {
    return this.world.client;
  }

  get cloud(): SandboxCloud {
    return this.world.cloud;
  }

  async startOperator(): Promise<void> {
    this.#operator = await OperatorInProcess.start(this.world, this.clock, this.#settings);
  }

  /** Of the operator that runs now. */
  get operatorLoad(): Load {
    if (!this.#operator) throw new Error('no operator runs');
    return this.#operator.load;
  }

  async stopOperator(): Promise<void> {
    const operator = this.#operator;
    this.#operator = undefined;
    await operator?.stop();
  }

  /** One more node for Kraftlets to run on. */
  async startHost(name: string): Promise<HostNode> {
    const { plane, run } = this.world;
    const host = await HostNode.start({ plane, run, programs: this.#programs, name });
    this.#hosts.push(host);
    return host;
  }

  async stop(): Promise<void> {
    this.#watching.abort();
    try {
      await this.stopOperator();
      await this.world.secretsTold.expectNone();
    } finally {
      await Promise.all(this.#hosts.map(async (host) => host.stop()));
      await this.world.stop();
    }
  }

  async expectApplied(...objects: KubeObject[]): Promise<Live<KubeObject>[]> {
    return applyAll(this.client, objects as Manifest[]);
  }

  /** Applies a node class and waits until machines can be made from it. */
  async expectUsable(...classes: UnikraftNodeClass[]): Promise<void> {
    await this.expectApplied(...classes);
    await this.eventually('every node class Ready', async () => {
      const { items } = await this.client.list(unikraftNodeClasses);
      return items.every(({ status }) => isTrue(status?.conditions, 'Ready'));
    });
  }

  /** Asks until `look` gives something; what it gave last stands in the error. */
  async eventually<T>(
    what: string,
    look: () => Promise<T | undefined | false>,
    within: Duration = patience,
  ): Promise<T> {
    const end = Date.now() + within;
    let last: unknown;
    while (Date.now() < end) {
      // oxlint-disable-next-line no-await-in-loop -- asked until it is so
      const found = await look().catch((error: unknown) => {
        last = error;
        return undefined;
      });
      if (found !== undefined && found !== false) return found;
      // oxlint-disable-next-line no-await-in-loop -- asked until it is so
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const state = await this.#picture();
    throw new Error(`after ${within / 1000} s: not ${what}\n${state}`, { cause: last });
  }

  /** Exactly so many claims that are not leaving. */
  async expectClaims(count: number): Promise<Live<NodeClaim>[]> {
    return this.eventually(`${count} claims`, async () => {
      const alive = (await this.claims()).filter(({ metadata }) => !metadata.deletionTimestamp);
      return alive.length === count && alive;
    });
  }

  async claims(): Promise<Live<NodeClaim>[]> {
    return (await this.client.list(nodeClaims)).items;
  }

  /** The claim as it is now. */
  async claim({ metadata }: Live<NodeClaim>): Promise<Live<NodeClaim>> {
    return this.client.get(nodeClaims, metadata);
  }

  /** @returns the condition once it has this status and, if given, reason */
  async expectCondition(
    claim: Live<NodeClaim>,
    type: string,
    wanted: { status: string; reason?: string },
  ) {
    return this.expectConditionOf(nodeClaims, claim.metadata.name, type, wanted);
  }

  /** The same for any cluster-scoped kind. */
  async expectConditionOf<T extends KubeObject & { status?: { conditions?: Condition[] } }>(
    resource: Resource<T>,
    name: string,
    type: string,
    wanted: { status: string; reason?: string },
  ): Promise<Condition> {
    return this.eventually(`${name} ${type}=${wanted.status}`, async () => {
      const { status } = await this.client.get(resource, { name });
      const found = getCondition(status?.conditions, type);
      const { reason = found?.reason } = wanted;
      return found?.status === wanted.status && found.reason === reason ? found : undefined;
    });
  }

  /** As `kubectl delete --wait=false`. */
  async expectDeleted(...objects: KubeObject[]): Promise<void> {
    await deleteAll(this.client, objects as Manifest[]);
  }

  /** The claim is gone, and if given, an event with this reason tells why. */
  async expectGone(claim: Live<NodeClaim>, why: { reason?: string } = {}): Promise<void> {
    await this.eventually(`${claim.metadata.name} gone`, async () => {
      const found = await this.client.get(nodeClaims, claim.metadata).catch(absent);
      return found?.metadata.uid !== claim.metadata.uid;
    });
    if (why.reason !== undefined) await this.expectEvent(claim, why.reason);
  }

  /** An event of the operator: kube-scheduler says FailedScheduling too. */
  async expectEvent(object: Live<KubeObject>, reason: string): Promise<Live<Event>> {
    return this.eventually(`event ${reason}`, async () => {
      const said = (await this.eventsOfOperator()).filter((event) => event.reason === reason);
      return said.find(({ involvedObject }) => involvedObject.uid === object.metadata.uid);
    });
  }

  async eventsOfOperator(): Promise<Live<Event>[]> {
    const { items } = await this.client.list(events);
    return items.filter(({ source }) => source?.component === manager);
  }

  /** Reasons of all events about it. */
  async eventsOf(object: Live<KubeObject>): Promise<string[]> {
    const { items } = await this.client.list(events);
    const own = items.filter(({ involvedObject }) => involvedObject.uid === object.metadata.uid);
    return own.map(({ reason }) => reason ?? '');
  }

  /** Runs on a Node, as kube-scheduler and Kraftlet see to it. */
  async expectScheduled(name: string, namespace = 'default'): Promise<Live<Pod>> {
    return this.eventually(`Pod ${name} running`, async () => {
      const pod = await this.client.get(pods, { namespace, name });
      return pod.status?.phase === 'Running' && pod;
    });
  }

  /** So many Pods of the workload run, and none of it is ill or leaving. */
  async expectRunning(workload: string, count: number): Promise<Live<Pod>[]> {
    return this.eventually(`${count} Pods of ${workload} running`, async () => {
      const { items } = await this.client.list(pods, { labelSelector: `app=${workload}` });
      const well = items.filter(
        ({ metadata, status }) => !metadata.deletionTimestamp && status?.phase === 'Running',
      );
      return items.length === count && well.length === count && items;
    });
  }

  async expectNodes(count: number): Promise<Live<Node>[]> {
    return this.eventually(`${count} nodes`, async () => {
      const { items } = await this.client.list(nodes, { labelSelector: labels.nodeClass });
      return items.length === count && items;
    });
  }

  /** Every name that a Node of ours ever had. */
  nodesEverSeen(): string[] {
    return [...this.#seenNodes];
  }

  async expectNoLeaks(within: Duration = patience): Promise<void> {
    let leaks: Leaks | undefined;
    await this.eventually(
      'without leaks',
      async () => {
        leaks = await leaksOf(this.world);
        return isClean(leaks) && (await this.claims()).length === 0;
      },
      within,
    ).catch((error: Error) => {
      throw new Error(`${error.message}\n${JSON.stringify(leaks)}`, { cause: error });
    });
  }

  /** For error messages: claims with their conditions, Nodes, Pods that do not run, and the latest events. */
  async #picture(): Promise<string> {
    const [claims, { items: seenNodes }, { items: seenPods }, said] = await Promise.all([
      this.claims(),
      this.client.list(nodes),
      this.client.list(pods),
      this.eventsOfOperator(),
    ]);
    return [
      'claims:',
      ...claims.map(tellClaim),
      'nodes:',
      ...seenNodes.map(tellNode),
      'pods that do not run:',
      ...seenPods.filter(({ status }) => status?.phase !== 'Running').map(tellPod),
      'events:',
      ...said.slice(-10).map(tellEvent),
    ].join('\n');
  }
}

function absent(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
  return undefined;
}
