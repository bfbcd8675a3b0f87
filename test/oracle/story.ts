/** One case in a cluster: what is there, what is made, and who is bound where. */
import type { ClosedNode, Plan, Problem } from '#scheduling/solver.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';

import { cordoned } from './cases/terms.ts';
import { isBound, keyOf, type Cluster } from './cluster/cluster.ts';
import { arrived, kindsOf, promisedNode, type Promised } from './cluster/node-objects.ts';
import { heldOff } from './held-off.ts';
import { named, problemNow, type Standing } from './problem-now.ts';

type Made = Standing['made'][number];

/** A case in a cluster, from the first Node to the last Pod. */
export class Story {
  readonly #cluster: Cluster;
  readonly #problem: Problem;
  readonly #prefix: string;
  readonly #namespaces: Standing['namespaces'];
  readonly #made: Made[] = [];
  readonly #arrived = new Set<string>();

  private constructor(
    cluster: Cluster,
    problem: Problem,
    prefix: string,
    namespaces: Standing['namespaces'],
  ) {
    this.#cluster = cluster;
    this.#problem = named(problem, prefix);
    this.#prefix = prefix;
    this.#namespaces = namespaces;
  }

  /** All that the case begins with is there, and kube-scheduler has done what it could. */
  static async begin(cluster: Cluster, problem: Problem, prefix: string): Promise<Story> {
    await cluster.clear();
    const story = new Story(cluster, problem, prefix, await cluster.namespaceLabels());
    const { nodes, closed = [], bound = [], pods } = story.#problem;
    const there = nodes.filter(({ kind }) => kind === 'node');
    await cluster.make([...there.map(arrived), ...closed.map(uncordoned)], { isClosed: false });
    await cluster.cordon(closed.map(({ name }) => name));
    await cluster.occupy(bound);
    await cluster.submit(pods);
    await cluster.settled();
    return story;
  }

  get nodes(): number {
    return this.#made.length;
  }

  /** What the solver is told now. */
  now(): Problem {
    return this.#with(this.#cluster.pods);
  }

  /**
   * Why a Pod could not be bound to its Node at one of the times when it was tried: after that it is nominated no more.
   *
   * @param key  `namespace/name`
   * @param planned  Pods that were bound since
   * @param tried  see {@link Cluster.tried}
   * @returns undefined if its Node would have done all the time
   */
  heldOff(
    [key, node]: readonly [string, string],
    planned: ReadonlyMap<string, string>,
    tried: readonly string[],
  ): string | undefined {
    const pod = this.#cluster.pod(key);
    if (!pod) return undefined;
    const { nodeName: _, ...spec } = pod.spec ?? { containers: [] };
    const waiting = { ...pod, spec };
    const { bound } = this.#cluster;
    const there = [...planned].filter(([other, on]) => on === node && other !== key);
    const turns = tried.flatMap((one, turn) => (one === key ? [turn] : []));
    return turns
      .flatMap((turn) => {
        const before = bound.filter((other) => {
          const name = keyOf(other);
          return name !== key && (!planned.has(name) || tried.lastIndexOf(name) < turn);
        });
        return [before, [...before, ...this.#meant(there, before)]];
      })
      .map((pods) => heldOff(this.#with([...pods, waiting]), waiting, node))
      .find((reason) => reason !== undefined);
  }

  /**
   * Whether a Pod that is not bound would be, if others had been bound to the Nodes that they were planned for.
   *
   * @param others  their keys and Nodes
   */
  isDisplaced(key: string, node: string, others: ReadonlyMap<string, string>): boolean {
    const waiting = this.#cluster.pod(key);
    if (!waiting || others.size === 0) return false;
    const meant = this.#cluster.bound.map((pod) => {
      const nodeName = others.get(keyOf(pod)) ?? pod.spec?.nodeName ?? '';
      return { ...pod, spec: { containers: [], ...pod.spec, nodeName } };
    });
    return heldOff(this.#with([...meant, waiting]), waiting, node) === undefined;
  }

  /**
   * Pods that are nominated for a Node and not bound yet, as if they were. kube-scheduler wants a Node to do with them and
   * without them.
   *
   * Source: k8s.io/kubernetes v1.37, pkg/scheduler/framework/runtime, RunFilterPluginsWithNominatedPods.
   */
  #meant(there: readonly (readonly [string, string])[], bound: readonly Pod[]): Pod[] {
    const isThere = new Set(bound.map(keyOf));
    return there.flatMap(([key, nodeName]) => {
      const pod = this.#cluster.pod(key);
      if (!pod || isThere.has(key)) return [];
      return [{ ...pod, spec: { containers: [], ...pod.spec, nodeName } }];
    });
  }

  #with(pods: readonly Pod[]): Problem {
    const [made, all, namespaces] = [this.#made, this.#arrived, this.#namespaces];
    return problemNow(this.#problem, { pods, made, arrived: all, namespaces });
  }

  /**
   * Makes what was planned, closed; tells Pods of it, if kube-scheduler is to be led; and opens all.
   *
   * kube-scheduler forgets a nomination when it tries the Pod in vain, as it does while the Node is closed and another one
   * opens. Whoever is led sees all Nodes open at once.
   */
  async carryOut(
    plan: Plan,
    { isLed }: { readonly isLed: boolean },
  ): Promise<ReadonlyMap<string, string>> {
    const first = this.#made.length;
    const fresh = plan.claims.map((claim, index): Made => {
      const node = promisedNode(`${this.#prefix}-m${first + index}`, claim, this.#problem.pools);
      return { ...node, nodePool: claim.nodePool };
    });
    const coming = this.#problem.nodes.filter(
      ({ name, kind }) => kind === 'claim' && !this.#arrived.has(name),
    );
    const targets = targetsOf(plan, fresh);
    const act = async (): Promise<void> => {
      const closed = [...fresh, ...coming.map(arrived)];
      await this.#cluster.make(closed, { isClosed: true });
      if (isLed) await this.#cluster.nominate(targets);
      await this.#cluster.open(closed.map(({ name }) => name));
    };
    await (isLed ? this.#cluster.inOneMoment(act) : act());
    this.#made.push(...fresh);
    for (const { name } of coming) this.#arrived.add(name);
    return targets;
  }

  /** Pods (namespace/name) that have no node. */
  get waiting(): readonly string[] {
    return this.#cluster.pods.filter((pod) => !isBound(pod)).map(keyOf);
  }

  /**
   * Makes open Nodes of every kind that the pools have, so that kube-scheduler says whether any would have done for these
   * Pods. Others that wait are taken away, and each of them finds one of each kind.
   */
  async offerAll(keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return;
    await this.#cluster.withdraw(this.waiting.filter((key) => !keys.includes(key)));
    const { pools } = this.#problem;
    const kinds = pools.flatMap(kindsOf).flatMap((kind) => keys.map(() => kind));
    const all = kinds.map((kind, index) => promisedNode(`${this.#prefix}-x${index}`, kind, pools));
    await this.#cluster.make(all, { isClosed: true });
    await this.#cluster.open(all.map(({ name }) => name));
    await this.#cluster.settledSince(keys);
  }
}

/** A Node that is cordoned once it is there; until then it lacks the taint that says so. */
function uncordoned({ name, labels, taints: all }: ClosedNode): Promised {
  const taints = all.filter(({ key }) => key !== cordoned.key);
  return { name, labels, taints, allocatable: { cpu: '8', memory: '32Gi', pods: '100' } };
}

function targetsOf({ claims, nominations }: Plan, fresh: readonly Promised[]): Map<string, string> {
  const made = claims.flatMap(({ pods }, index) =>
    pods.map((pod) => [pod, fresh[index]?.name ?? ''] as const),
  );
  return new Map([...nominations, ...made]);
}
