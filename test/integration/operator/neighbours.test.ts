import { afterAll, beforeAll, expect, inject, test } from 'vitest';

import { isWrite } from '#sandbox/control-plane/audit.ts';
import { nodeClaims, nodePools } from '#schemas/karpenter/types.ts';
import type { KubeObject, Live } from '#schemas/kubernetes/meta.ts';
import { pods } from '#schemas/kubernetes/resource.ts';
import { labels } from '#schemas/names.ts';
import { hours } from '#schemas/time/clock.ts';
import * as neighbours from '#test/world/neighbours.ts';
import { nodeClass, nodePool, optedInPod } from '#test/world/objects.ts';
import { operatorUser, TestWorld } from '#test/world/test-world.ts';

const foreign = ['settled', 'leaving', 'unlaunched'];
let world: TestWorld;
let theirs: Live<KubeObject>[];

beforeAll(async () => {
  world = await TestWorld.start(inject('tools'), { operator: false });
  const { neighboursClaim, neighboursNode, neighboursPool } = neighbours;
  theirs = await world.expectApplied(
    neighboursPool(),
    ...foreign.map(neighboursClaim),
    neighboursNode(),
  );
  const status = neighbours.neighboursStatus(world.clock.stamp());
  await Promise.all(
    ['settled', 'leaving'].map(async (name) =>
      world.client.patch(
        nodeClaims,
        { name },
        { type: 'merge', body: { status } },
        { subresource: 'status' },
      ),
    ),
  );
  await world.client.delete(nodeClaims, { name: 'leaving' }); // its own operator will let it go
  await world.startOperator();
  await world.expectUsable(nodeClass());
  await world.expectApplied(
    nodePool({
      disruption: {
        consolidationPolicy: 'WhenEmpty',
        consolidateAfter: '0s',
        budgets: [{ nodes: '100%' }],
      },
    }),
  );
});
afterAll(async () => world?.stop());

test('beside them a machine of ours comes, stays past their hour, and goes', async () => {
  await world.expectApplied(optedInPod('ours', { cpu: '2' }));
  await world.expectScheduled('ours');
  await world.clock.forward(hours(2));
  await world.stopOperator();
  await world.startOperator();
  await world.expectNodes(1);
  await world.client.delete(pods, { namespace: 'default', name: 'ours' });
  await world.eventually('our machine gone', async () => {
    const names = (await world.claims()).map(({ metadata }) => metadata.name);
    return foreign.toSorted().join() === names.toSorted().join();
  });
  expect(world.cloud.leaks().instances).toBe(0);
});

test('Pods that their pool would serve hear nothing from us', async () => {
  const selector = { [labels.nodePool]: 'aws' };
  const tolerateAll = [{ operator: 'Exists' as const }];
  await world.expectApplied(
    optedInPod('for-them', { cpu: '1' }, { nodeSelector: selector, tolerations: [] }),
    optedInPod('tolerant', { cpu: '1' }, { nodeSelector: selector, tolerations: tolerateAll }),
    optedInPod('for-anybody', { cpu: '500' }, { nodeSelector: {}, tolerations: tolerateAll }),
  );
  const [ours] = await world.expectApplied(optedInPod('for-us', { cpu: '500' }));
  await world.expectEvent(ours!, 'FailedScheduling'); // all four were looked at by now

  const told = (await world.eventsOfOperator())
    .filter(({ reason }) => reason === 'FailedScheduling')
    .map(({ involvedObject }) => involvedObject.name ?? '');
  expect(told).toContain('for-us');
  expect(told.filter((name) => ['for-them', 'tolerant', 'for-anybody'].includes(name))).toEqual([]);
});

test('nothing of theirs was ever written to', async () => {
  const names = new Set(theirs.map(({ metadata }) => metadata.name));
  const writes = (await world.world.plane.audit()).filter(
    (entry) => entry.user === operatorUser && isWrite(entry),
  );
  expect(writes.length).toBeGreaterThan(10);
  expect(writes.filter(({ name }) => names.has(name))).toEqual([]);
});

test('nor was anything said of it', async () => {
  const uids = new Set(theirs.map(({ metadata }) => metadata.uid));
  const said = await world.eventsOfOperator();
  expect(said.filter(({ involvedObject }) => uids.has(involvedObject.uid ?? ''))).toEqual([]);
});

test('their pool and claims read as they left them', async () => {
  const pool = await world.client.get(nodePools, { name: 'aws' });
  expect(pool.status).toBeUndefined();
  expect(pool.metadata.annotations).toBeUndefined();
  const settled = await world.client.get(nodeClaims, { name: 'settled' });
  expect(settled.status?.conditions).toHaveLength(4);
  const leaving = await world.client.get(nodeClaims, { name: 'leaving' });
  expect(leaving.metadata.finalizers).toEqual(['karpenter.sh/termination']);
});
