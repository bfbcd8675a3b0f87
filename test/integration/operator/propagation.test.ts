/** Whoever deletes a pool or a claim may choose how Kubernetes' garbage collector goes on; Argo CD asks for the foreground. */
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';

import { nodeClaims, nodePools, type NodeClaim } from '#schemas/karpenter/types.ts';
import type { PodDisruptionBudget } from '#schemas/kubernetes/core.ts';
import type { KubeObject, Live } from '#schemas/kubernetes/meta.ts';
import { secrets, statefulSets, type Resource } from '#schemas/kubernetes/resource.ts';
import { labels } from '#schemas/names.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';
import { nodeClass, nodePool, workload } from '#test/world/objects.ts';
import { TestWorld } from '#test/world/test-world.ts';

let world: TestWorld;

beforeAll(async () => {
  world = await TestWorld.start(inject('tools'));
  await world.expectUsable(nodeClass());
});
afterEach(async () => {
  await world.expectDeleted(budget, web(0), nodePool(), ...(await world.claims()));
  await world.expectNoLeaks();
  await world.clock.forward(minutes(20)); // three machines in a row that lost their Pods at once make the pool pause
});
afterAll(async () => world?.stop());

const web = (replicas: number) => workload('StatefulSet', 'web', replicas);

/** As long as it stands, no Pod may be evicted. */
const budget: PodDisruptionBudget = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'web' },
  spec: { selector: { matchLabels: { app: 'web' } }, maxUnavailable: 0 },
};

// The collector learns of new kinds within half a minute, so the one that needs it most comes last.
test.for([
  { kind: 'NodePool', propagationPolicy: 'Background' },
  { kind: 'NodeClaim', propagationPolicy: 'Orphan' },
  { kind: 'NodeClaim', propagationPolicy: 'Foreground' },
  { kind: 'NodePool', propagationPolicy: 'Foreground' },
] as const)(
  'a $kind that is deleted with $propagationPolicy keeps Kraftlet until the last Pod may leave',
  async ({ kind, propagationPolicy }) => {
    const claim = await machineWithPods();
    const made = await madeFor(claim);
    expect(made.length).toBeGreaterThan(2);
    if (kind === 'NodeClaim') {
      await world.expectDeleted(nodePool({ limits: { cpu: '0' } }));
      await world.client.delete(nodeClaims, claim.metadata, { propagationPolicy });
    } else await world.client.delete(nodePools, { name: 'web' }, { propagationPolicy });
    await world.eventually('a claim that leaves', async () => {
      const { metadata } = await world.claim(claim);
      return metadata.deletionTimestamp !== undefined;
    });

    await new Promise((resolve) => setTimeout(resolve, seconds(5))); // for the garbage collector, which acts at once

    expect(await madeFor(claim)).toEqual(made);
    await world.expectRunning('web', 2);

    await world.expectDeleted(budget);

    await world.expectGone(claim);
    await world.expectNoLeaks();
  },
);

/** A machine whose two Pods run, and may not be evicted. */
async function machineWithPods(): Promise<Live<NodeClaim>> {
  await world.expectApplied(nodePool(), web(2), budget);
  const [claim] = await world.expectClaims(1);
  await world.expectCondition(claim!, 'Initialized', { status: 'True' });
  await world.expectRunning('web', 2);
  return world.claim(claim!);
}

/** What there is of a claim in the namespaces of Kraftlet and of the operator, and is not about to go. */
async function madeFor({ metadata }: Live<NodeClaim>): Promise<string[]> {
  const kinds: readonly Resource<KubeObject>[] = [statefulSets, secrets];
  const all = await Promise.all(
    kinds.map(async (resource) => {
      const labelSelector = `${labels.claimUid}=${metadata.uid}`;
      const { items } = await world.client.list(resource, { labelSelector });
      return items
        .filter((item) => item.metadata.deletionTimestamp === undefined)
        .map((item) => `${resource.kind} ${item.metadata.uid}`);
    }),
  );
  return all.flat().toSorted();
}
