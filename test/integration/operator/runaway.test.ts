/**
 * Upstream's chaos: a Deployment of one Pod, and somebody who taints each Node that comes.
 *
 * Source: Karpenter v1.15, test/suites/regression/chaos_test.go, which is content with fewer than 35 Nodes in five
 * minutes.
 */
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';

import { SharedInformer } from '#kube/cache/shared-informer.ts';
import { getCondition } from '#kube/conditions.ts';
import { silentLogger } from '#kube/log.ts';
import { nodePools } from '#schemas/karpenter/types.ts';
import type { Pod, Taint } from '#schemas/kubernetes/core.ts';
import type { KubeObject, Live } from '#schemas/kubernetes/meta.ts';
import { nodes, pods, type Resource } from '#schemas/kubernetes/resource.ts';
import { labels } from '#schemas/names.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';
import { nodeClass, nodePool, workload } from '#test/world/objects.ts';
import { TestWorld } from '#test/world/test-world.ts';

const taint: Taint = { key: 'chaos.example.com/taint', value: 'true', effect: 'NoExecute' };
const timeout = 120_000;

let world: TestWorld;
let chaos: AbortController;

beforeAll(async () => {
  world = await TestWorld.start(inject('tools'));
  await world.expectUsable(nodeClass());
});
afterEach(() => chaos.abort());
afterAll(async () => world?.stop());

test(
  'a Pod whose Nodes are tainted as soon as they are there costs three in five minutes',
  async () => {
    follow(nodes, (node) => node.metadata.name);
    await world.expectApplied(emptied('early'), workload('Deployment', 'early', 1));

    await fiveMinutes('early');

    expect(nodesOf('early')).toHaveLength(3);
    await expectTold('early', /has taint chaos.example.com\/taint=true:NoExecute/);
    await world.expectDeleted(workload('Deployment', 'early', 1), emptied('early'));
  },
  timeout,
);

test(
  'a Pod that is taken from each of its Nodes costs three in five minutes',
  async () => {
    follow(pods, ({ spec, status }) => (status?.phase === 'Running' ? spec?.nodeName : undefined));
    await world.expectApplied(emptied('late'), workload('Deployment', 'late', 1));

    await fiveMinutes('late');

    expect(nodesOf('late')).toHaveLength(3);
    await expectTold('late', /has taint chaos.example.com\/taint=true:NoExecute/);
  },
  timeout,
);

/** Machines that nobody is on go at once, as in upstream's test. */
function emptied(name: string): ReturnType<typeof nodePool> {
  const disruption = { consolidationPolicy: 'WhenEmpty', consolidateAfter: '0s' } as const;
  return nodePool({ name, disruption });
}

/** Steps short enough that each Pod is planned anew as soon as it may, and that machines have time to open. */
async function fiveMinutes(pool: string): Promise<void> {
  const end = world.clock.now() + minutes(5);
  while (world.clock.now() < end) {
    // oxlint-disable-next-line no-await-in-loop -- one step after the other is the point
    const { status } = await world.client.get(nodePools, { name: pool });
    const isHeld = getCondition(status?.conditions, 'ProvisioningBackoff')?.status === 'True';
    // oxlint-disable-next-line no-await-in-loop -- one step after the other is the point
    await world.clock.forward(isHeld ? minutes(1) : seconds(10));
    // oxlint-disable-next-line no-await-in-loop -- the machines run in real time
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

const nodesOf = (pool: string): string[] =>
  world.nodesEverSeen().filter((name) => name.startsWith(`${pool}-`));

async function expectTold(pool: string, why: RegExp): Promise<void> {
  const { message } = await world.expectConditionOf(nodePools, pool, 'ProvisioningBackoff', {
    status: 'True',
    reason: 'PodsNotPlaced',
  });
  expect(message).toMatch(why);
  // By their kind, or by the taint, should one have gone before its Pod was planned anew.
  expect(message).toMatch(
    /^3 machines (were made for|are of no use to) Pods like default\/.*\(KPU347\)$/,
  );
  const object = await world.client.get(nodePools, { name: pool });
  expect((await world.expectEvent(object, 'ProvisioningBackoff')).message).toBe(message);
  await world.expectConditionOf(nodePools, pool, 'Ready', { status: 'True' });
  const [pod] = (await world.client.list(pods, { labelSelector: `app=${pool}` })).items;
  expect((await world.expectEvent(pod as Live<Pod>, 'FailedScheduling')).message).toMatch(why);
}

/** Taints the Node that `nodeOf` tells of each object. */
function follow<T extends KubeObject>(
  resource: Resource<T>,
  nodeOf: (object: Live<T>) => string | undefined,
): void {
  chaos = new AbortController();
  const selector = resource.kind === 'Node' ? { labelSelector: labels.nodeClass } : {};
  const seen = new SharedInformer<T>(world.client, resource, {
    clock: new SystemClock(),
    log: silentLogger,
    ...selector,
  });
  const look = (object: Live<T>): void => void add(nodeOf(object));
  seen.subscribe({ add: look, update: look });
  void seen.run(chaos.signal);
}

/** Who loses to another writer sees the Node again, and tries again. */
async function add(name: string | undefined): Promise<void> {
  if (name === undefined) return;
  try {
    const { metadata, spec } = await world.client.get(nodes, { name });
    const present = spec?.taints ?? [];
    const isOurs = metadata.labels?.[labels.nodeClass] !== undefined;
    if (!isOurs || present.some(({ key }) => key === taint.key)) return;
    const { resourceVersion } = metadata;
    const body = { metadata: { resourceVersion }, spec: { taints: [...present, taint] } };
    await world.client.patch(nodes, { name }, { type: 'merge', body });
  } catch {
    await new Promise((resolve) => setTimeout(resolve, 50));
    if (!chaos.signal.aborted) await add(name);
  }
}
