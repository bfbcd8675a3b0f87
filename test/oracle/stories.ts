/**
 * What a plan is held against: the real kube-scheduler, once told which Node each Pod was planned for, once left to
 * itself.
 */
import { solve } from '#scheduling/solve.ts';
import type { Plan, Problem, Solve } from '#scheduling/solver.ts';

import { plannedIn } from './answers/answer.ts';
import { isBound, type Cluster } from './cluster/cluster.ts';
import { Story } from './story.ts';

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
  /** Pods whose place one of these took, and that got another in the pass after. */
  readonly displaced: number;
  /** Pods that were planned, and that nothing can take any more where others have been bound. */
  readonly cornered: number;
  /** Nodes made, in all passes, beyond one for each Pod. */
  readonly surplus: number;
}

const nothing: Outcome = {
  violations: [],
  planned: 0,
  nodes: 0,
  passes: 0,
  held: 0,
  displaced: 0,
  cornered: 0,
  surplus: 0,
};

/**
 * Told where each Pod is to go, kube-scheduler binds every planned Pod, and to its planned Node, unless a rule held it off
 * there when its turn came, or one that was held off took its place: that one is bound in the pass after.
 *
 * Pods for which nothing was planned are taken away first: kube-scheduler may bind them to whatever has room, and it
 * does not regard the anti-affinity of Pods that are only nominated, so they could take the place of others. A Pod that
 * is held off takes the place of another for the same reason.
 *
 * Source: k8s.io/kubernetes v1.37, pkg/scheduler/framework: interpodaffinity, PreFilter, skips the plugin for a Pod that
 * has no terms and is kept away by no Pod that is bound; RunPreFilterExtensionAddPod then adds no nominated one to it.
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
  const tried = await cluster.tried();
  const held = new Map(
    elsewhere.filter(
      (one) => nodeOf(one[0]) !== undefined && story.heldOff(one, targets, tried) !== undefined,
    ),
  );
  const displaced = elsewhere.filter(
    ([key, node]) => nodeOf(key) === undefined && story.isDisplaced(key, node, held),
  );
  const wrong = await Promise.all(
    elsewhere
      .filter((one) => !held.has(one[0]) && !displaced.includes(one))
      .map(async ([key, node]) => {
        const at = nodeOf(key);
        const where = at === undefined ? 'is not bound' : `was bound to ${at}`;
        return `${key} was planned for ${node} and ${where}: ${await cluster.saidOf(key)}`;
      }),
  );
  const { nodes } = story;
  const left = await planAnew(
    story,
    cluster,
    displaced.map(([key]) => key),
  );
  return {
    ...nothing,
    violations: [...wrong, ...left],
    planned: targets.size,
    nodes,
    held: held.size,
    displaced: displaced.length,
  };
}

/** One more pass for these Pods, without limits. @returns those that are still not bound, though a Node would take them */
async function planAnew(
  story: Story,
  cluster: Cluster,
  keys: readonly string[],
): Promise<string[]> {
  if (keys.length === 0) return [];
  await cluster.withdraw(story.waiting.filter((key) => !keys.includes(key)));
  const targets = await story.carryOut(solve(unlimited(story.now())), { isLed: true });
  await cluster.settledSince([...targets.keys()]);
  const left = keys.filter((key) => !isBound(cluster.pod(key)));
  return wrongedOf(story, cluster, left, { plan: solve(unlimited(story.now())), passes: 2 });
}

function unlimited(problem: Problem): Problem {
  return { ...problem, pools: problem.pools.map((pool) => ({ ...pool, remaining: {} })) };
}

/**
 * Of Pods that are not bound those for which there is a way: the plan that would be next has one, or any Node that the
 * pools can make takes them.
 */
async function wrongedOf(
  story: Story,
  cluster: Cluster,
  left: readonly string[],
  { plan, passes }: { readonly plan: Plan; readonly passes: number },
): Promise<string[]> {
  const said = new Map(
    await Promise.all(left.map(async (key) => [key, await cluster.saidOf(key)] as const)),
  );
  await story.offerAll(left);
  const wronged = left.filter((key) => plannedIn(plan).includes(key) || isBound(cluster.pod(key)));
  return wronged.map((key) => {
    const at = cluster.pod(key)?.spec?.nodeName;
    const way = at === undefined ? 'it was planned again' : `a Node like ${at} takes it`;
    const why = plan.unschedulable.get(key)?.map(({ pool, message }) => `${pool}: ${message}`);
    return `${key} is not bound after ${passes} passes, and ${way}: ${said.get(key)} (refused: ${why?.join('; ')})`;
  });
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
  const story = await Story.begin(cluster, unlimited(problem), prefix);
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
  const violations = await wrongedOf(story, cluster, left, { plan, passes });
  return {
    ...nothing,
    violations: [...violations, ...runaway],
    planned: wanted.length,
    nodes,
    passes,
    cornered: left.length - violations.length,
    surplus: Math.max(0, nodes - pods),
  };
}
