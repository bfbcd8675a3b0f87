import { Metrics } from '#kube/metrics.ts';
import type { EventNote } from '#kube/runtime/events.ts';
import { solve } from '#scheduling/solve.ts';
import { size } from '#scheduling/testing/build.ts';
import { nodeClaims, nodePools, type NodeClaim, type NodePool } from '#schemas/karpenter/types.ts';
import type { Node, Pod } from '#schemas/kubernetes/core.ts';
import type { Condition, Live, ResourceList } from '#schemas/kubernetes/meta.ts';
import { nodes, pods } from '#schemas/kubernetes/resource.ts';
import { group, labels, nodeClassKind, taints } from '#schemas/names.ts';
import type { ResolvedNodeClass } from '#schemas/nodeclass/types.ts';
import { seconds } from '#schemas/time/clock.ts';

import type { Catalog } from '../../catalog.ts';
import { Reservations } from '../../reservations/reservations.ts';
import { memoryContext } from '../../testing/context.ts';
import { BackedOff } from '../breaker/backed-off.ts';
import { LimitStates } from '../limit-states.ts';
import { Misfits } from '../misfits.ts';
import { Nominations } from '../nominations.ts';
import { Provisioner, type ProvisionerParts } from '../provisioner.ts';
import { Slices } from '../slices.ts';
import type { Solver } from '../solver.ts';

export const nodeClassRef = { group, kind: nodeClassKind, name: 'default' };
const instanceTypes = [size(2), size(4), size(8)];

/** What Kraftlet's chart is given; the rest of a node class matters to nobody here. */
export function resolvedWith(values: object): ResolvedNodeClass {
  const spec = { aws: { region: 'eu-1' }, kraftlet: { values } };
  return { nodeClass: 'default', spec } as ResolvedNodeClass;
}

/** Sizes of 2, 4 and 8 vCPUs, and a Kraftlet that is told of these CSI drivers. */
export function catalogWith(...drivers: readonly string[]): Catalog {
  const plugins = Object.fromEntries(drivers.map((driver) => [driver, 'csi.storage.svc:9000']));
  const nodeClass = resolvedWith(drivers.length > 0 ? { csi: { plugins } } : {});
  const offer = { revision: 'default-1', nodeClass, instanceTypes };
  return { offer: async () => Promise.resolve(offer) };
}

/** At once, and in the process of the test. */
const solver: Solver = { solve: async (problem) => Promise.resolve(solve(problem)) };

/** A cluster in memory with the provisioner in it; sizes of 2, 4 and 8 vCPUs are on sale. */
export class World {
  readonly context;
  readonly client;
  readonly clock;
  readonly caches;
  readonly notes: readonly EventNote[];
  readonly #running: AbortController[] = [];

  constructor(options: Parameters<typeof memoryContext>[0] = {}) {
    const { context, client, clock, caches, notes } = memoryContext(options);
    this.context = context;
    this.client = client;
    this.clock = clock;
    this.caches = caches;
    this.notes = notes;
  }

  /** A controller as after a start of its process: it remembers nothing. */
  start(policies: ProvisionerParts['policies'] = {}, more: Partial<ProvisionerParts> = {}) {
    const reservations = new Reservations(this.context);
    const nominations = new Nominations(this.context);
    const limits = new LimitStates();
    const misfits = new Misfits();
    const backedOff = new BackedOff();
    const catalog = catalogWith();
    const batch = { idle: seconds(1), max: seconds(10) };
    const metrics = new Metrics();
    const known = { catalog, reservations, nominations, limits, misfits, backedOff };
    const slices = new Slices(Infinity); // time stands still between the turns of a test
    const parts = { ...known, batch, metrics, policies, solver, slices, ...more };
    const provisioner = new Provisioner(this.context, parts);
    const life = new AbortController();
    this.#running.push(life);
    void reservations.run(life.signal);
    void provisioner.run(life.signal);
    return { nominations, reservations, limits, misfits, backedOff, kill: () => life.abort() };
  }

  end(): void {
    this.#running.forEach((life) => life.abort());
  }

  isTrue(type: string, observedGeneration = 1): Condition {
    return { type, status: 'True', observedGeneration, lastTransitionTime: this.clock.stamp() };
  }

  seedPool(name: string, limits?: ResourceList): Live<NodePool> {
    const template = {
      metadata: { labels: { team: 'shop' } },
      spec: { nodeClassRef, requirements: [], expireAfter: '720h' },
    };
    const spec = { template, ...(limits ? { limits } : {}) };
    const status = { conditions: [this.isTrue('Ready')] };
    return this.client.seed(nodePools, { metadata: { name }, spec, status });
  }

  /** A Pod that tolerates Kraftlet's taint and that kube-scheduler found no node for. */
  seedPod(
    name: string,
    requests: ResourceList = { cpu: '1' },
    parts: {
      labels?: Record<string, string>;
      spec?: Partial<Pod['spec']>;
      status?: Pod['status'];
    } = {},
  ): string {
    const spec = {
      containers: [{ name: 'app', resources: { requests } }],
      tolerations: [{ key: taints.kraftlet.key, operator: 'Exists' as const }],
      ...parts.spec,
    };
    const verdict = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable' } as const;
    const status = { conditions: [verdict], ...parts.status };
    const { labels: own = {} } = parts;
    this.client.seed(pods, { metadata: { namespace: 'shop', name, labels: own }, spec, status });
    return `shop/${name}`;
  }

  /** The Node of a claim, with 4 vCPUs. */
  seedNode(claim: Live<NodeClaim>, parts: Partial<Node['spec']> = {}): void {
    const { name } = claim.metadata;
    this.client.seed(nodes, {
      metadata: { name, labels: { ...claim.metadata.labels, [labels.virtualKubelet]: 'true' } },
      spec: { providerID: `x/${name}`, taints: [taints.kraftlet], ...parts },
      status: {
        allocatable: { cpu: '4', memory: '16Gi', pods: '100' },
        conditions: [this.isTrue('Ready')],
      },
    });
  }

  /** The claim as its machine comes to be. */
  becomes(claim: Live<NodeClaim>, ...types: string[]): void {
    const { name } = claim.metadata;
    const conditions = types.map((type) => this.isTrue(type));
    const status = { nodeName: name, providerID: `x/${name}`, conditions };
    this.client.seed(nodeClaims, { ...claim, status });
  }

  get claims(): Live<NodeClaim>[] {
    return this.client.all(nodeClaims);
  }

  /** As it is now. */
  pod(key: string): Live<Pod> {
    const [namespace = '', name = ''] = key.split('/');
    return this.client.peek(pods, { namespace, name })!;
  }

  notesOf(reason: string): EventNote[] {
    return this.notes.filter((note) => note.reason === reason);
  }
}
