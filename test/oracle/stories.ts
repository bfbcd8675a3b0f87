/**
 * What a plan is held against: the real kube-scheduler, once told which Node each Pod was planned for, once left to
 * itself.
 */
import { solve } from '#scheduling/solve.ts';
import type { ClosedNode, Plan, Problem, Solve } from '#scheduling/solver.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';

import { plannedIn } from './answers/answer.ts';
import { cordoned } from './cases/terms.ts';
import { isBound, keyOf, type Cluster } from './cluster/cluster.ts';
import { arrived, kindsOf, promisedNode, type Promised } from './cluster/node-objects.ts';
import { heldOff } from './held-off.ts';
import { named, problemNow, type Standing } from './problem-now.ts';

/** What came of a case. */
export interface Outcome {
  /** What should not have been, each with what kube-scheduler said; none: as it should be. */
  readonly violations: readonly string[];
  /** Pods that were planned. */
  readonly planned: number;
  readonly nodes: number;
  /** Passes of the solver until nothing was left to plan. */
  readonly passes: number;
  /** Pods that their own rules held off their Node when their turn came, so that they were bound to another one. */
  readonly held: number;
  /** Pods that were planned, and that nothing can take any more where others have been bound. */
  readonly cornered: number;
  /** Nodes made, in all passes, beyond one for each Pod. */
  readonly surplus: number;
}

type Made = Standing['made'][number];

/** So many Pods at most are being bound at a time; nobody knows in which order these were tried. */
const atOnce = 3;

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
   * Why a Pod could not be bound to its Node at some time before it was bound elsewhere: tried then, it is nominated no more.
   *
   * @param key  `namespace/name`
   * @param planned  Pods that were bound since
   * @returns undefined if its Node would have done all the time
   */
  heldOff(key: string, node: string, planned: ReadonlyMap<string, string>): string | undefined {
    const pod = this.#cluster.pod(key);
    if (!pod) return undefined;
    const { nodeName: _, ...spec } = pod.spec ?? { containers: [] };
    const waiting = { ...pod, spec };
    const { bound } = this.#cluster;
    const old = bound.filter((other) => !planned.has(keyOf(other)));
    const since = bound.filter((other) => planned.has(keyOf(other)));
    const turn = since.findIndex((other) => keyOf(other) === key);
    const others = since.filter((other) => keyOf(other) !== key).slice(0, turn + atOnce);
    const there = [...planned].filter(([other, on]) => on === node && other !== key);
    return [...others.keys(), others.length]
      .flatMap((count) => {
        const before = [...old, ...others.slice(0, count)];
        return [before, [...before, ...this.#meant(there, before)]];
      })
      .map((pods) => heldOff(this.#with([...pods, waiting]), waiting, node))
      .find((reason) => reason !== undefined);
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

const nothing: Outcome = {
  violations: [],
  planned: 0,
  nodes: 0,
  passes: 0,
  held: 0,
  cornered: 0,
  surplus: 0,
};

/**
 * Told where each Pod is to go, kube-scheduler binds every planned Pod, and to its planned Node, unless a rule held it off
 * there when its turn came.
 *
 * Pods for which nothing was planned are taken away first: kube-scheduler may bind them to whatever has room, and it
 * does not regard the anti-affinity of Pods that are only nominated, so they could take the place of others.
 */
export async function led(
  cluster: Cluster,
  problem: Problem,
  prefix: string,
  solver: Solve = solve,
): Promise<Outcome> {
  const story = await Story.begin(cluster, problem, prefix);
  const plan = solver(story.now());
  const keys = plannedIn(plan);
  if (keys.length === 0) return nothing;
  await cluster.withdraw([...plan.unschedulable.keys()]);
  const targets = await story.carryOut(plan, { isLed: true });
  await cluster.settledSince(keys);
  const nodeOf = (key: string): string | undefined => cluster.pod(key)?.spec?.nodeName;
  const elsewhere = [...targets].filter(([key, node]) => nodeOf(key) !== node);
  const held = elsewhere.filter(
    ([key, node]) => nodeOf(key) !== undefined && story.heldOff(key, node, targets) !== undefined,
  );
  const violations = await Promise.all(
    elsewhere
      .filter((one) => !held.includes(one))
      .map(async ([key, node]) => {
        const at = nodeOf(key);
        const where = at === undefined ? 'is not bound' : `was bound to ${at}`;
        return `${key} was planned for ${node} and ${where}: ${await cluster.saidOf(key)}`;
      }),
  );
  return { ...nothing, violations, planned: targets.size, nodes: story.nodes, held: held.length };
}

/** How many more passes there may be until every Pod that was planned is bound. */
const morePasses = 2;

/**
 * Left to itself, kube-scheduler has bound every Pod that was planned once, after two further passes at most, none of which
 * makes more Nodes than Pods wait. Limits are lifted, since what they stop waits for ever in any case.
 *
 * In all there may be more Nodes than Pods: where small Pods that need a host of their own have taken the large Nodes,
 * large Pods get others, and the small Nodes stay empty.
 *
 * By where it binds the first ones it may leave others without any place; these must be such that no Node of any kind
 * that the pools can make would take them.
 */
export async function unled(cluster: Cluster, problem: Problem, prefix: string): Promise<Outcome> {
  const unlimited = {
    ...problem,
    pools: problem.pools.map((pool) => ({ ...pool, remaining: {} })),
  };
  const story = await Story.begin(cluster, unlimited, prefix);
  const pods = story.waiting.length;
  const runaway: string[] = [];
  const first = solve(story.now());
  const wanted = plannedIn(first);
  let plan = first;
  let passes = 0;
  while (passes <= morePasses && plannedIn(plan).length > 0) {
    const { length } = story.waiting;
    if (plan.claims.length > length)
      runaway.push(`${plan.claims.length} Nodes were planned for ${length} Pods`);
    // oxlint-disable-next-line no-await-in-loop -- each pass follows what came of the one before
    const targets = await story.carryOut(plan, { isLed: false });
    // oxlint-disable-next-line no-await-in-loop -- as above
    await cluster.settledSince([...targets.keys()]);
    plan = solve(story.now());
    passes += 1;
  }
  const { nodes } = story;
  const left = wanted.filter((key) => !isBound(cluster.pod(key)));
  const said = new Map(
    await Promise.all(left.map(async (key) => [key, await cluster.saidOf(key)] as const)),
  );
  await story.offerAll(left);
  const wronged = left.filter((key) => plannedIn(plan).includes(key) || isBound(cluster.pod(key)));
  const violations = wronged.map((key) => {
    const at = cluster.pod(key)?.spec?.nodeName;
    const way = at === undefined ? 'it was planned again' : `a Node like ${at} takes it`;
    const why = plan.unschedulable.get(key)?.map(({ pool, message }) => `${pool}: ${message}`);
    return `${key} is not bound after ${passes} passes, and ${way}: ${said.get(key)} (refused: ${why?.join('; ')})`;
  });
  return {
    ...nothing,
    violations: [...violations, ...runaway],
    planned: wanted.length,
    nodes,
    passes,
    cornered: left.length - wronged.length,
    surplus: Math.max(0, nodes - pods),
  };
}
