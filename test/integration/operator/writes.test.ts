import { afterAll, beforeAll, expect, inject, test } from 'vitest';

import { getCondition } from '#kube/conditions.ts';
import type { AuditEntry } from '#sandbox/control-plane/audit.ts';
import { writesPerNode, type MachineSpan } from '#sandbox/world/writes.ts';
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { seconds } from '#schemas/time/clock.ts';
import { nodeClass, nodePool, optedInPod } from '#test/world/objects.ts';
import { operatorUser, TestWorld } from '#test/world/test-world.ts';

const names = ['first', 'second', 'third', 'fourth', 'fifth'];
let world: TestWorld;
let audit: AuditEntry[];
let spans: MachineSpan[];

/** Five machines at once, whose platforms take their time: unknown, then degraded, then healthy. */
beforeAll(async () => {
  world = await TestWorld.start(inject('tools'));
  await world.expectApplied(nodeClass(), nodePool());
  names.forEach(() => world.cloud.machines.next({ unknown: seconds(4), degraded: seconds(4) }));
  await world.expectApplied(...names.map((name) => optedInPod(name, { cpu: '2' })));
  await Promise.all(names.map((name) => world.expectScheduled(name)));
  spans = (await world.expectClaims(5)).map(spanOf);
  audit = await world.world.plane.audit();
});
afterAll(async () => world?.stop());

test('a machine costs at most ten writes until its Node is initialised', () => {
  const writes = writesPerNode(audit, spans);
  expect(writes).toHaveLength(5);
  expect(Math.min(...writes)).toBeGreaterThan(5); // the log has seen them
  expect(Math.max(...writes)).toBeLessThanOrEqual(10);
});

test('nobody asks the API server how a launch is going', () => {
  const reads = readsOfLaunches();
  expect(reads('nodes')).toEqual([]);
  expect(reads('pods')).toEqual([]);
  expect(reads('statefulsets')).toEqual([]);
  // Ledgers that are missing are made from the claims: once each, however many machines come.
  expect(reads('nodeclaims').length).toBeLessThanOrEqual(2);
  expect(reads('nodeclaims')).not.toContain('get');
});

test('a launch reads of Secrets only the authority that signs, at most once, and those at once share it', () => {
  const reads = readsOfLaunches()('secrets');
  expect(new Set(reads)).toEqual(new Set(['get']));
  expect(reads.length).toBeLessThanOrEqual(names.length);
});

test('writes are by patch, so that nobody else’s field is lost', () => {
  const updates = audit.filter(({ user, verb }) => user === operatorUser && verb === 'update');
  expect(new Set(updates.map(({ resource }) => resource))).toEqual(new Set(['configmaps']));
});

/** Verbs of the operator's reads of a resource, from the first claim on. */
function readsOfLaunches(): (resource: string) => string[] {
  const ours = audit.filter(({ user }) => user === operatorUser);
  const first = ours.findIndex(
    ({ verb, resource }) => verb === 'create' && resource === 'nodeclaims',
  );
  const reads = ours.slice(first).filter(({ verb }) => verb === 'get' || verb === 'list');
  return (resource) => reads.filter((read) => read.resource === resource).map(({ verb }) => verb);
}

function spanOf({ metadata, status }: Live<NodeClaim>): MachineSpan {
  const initialized = getCondition(status?.conditions, 'Initialized');
  if (initialized?.status !== 'True') throw new Error(`${metadata.name} is not initialised`);
  const initializedAt = initialized.lastTransitionTime ?? '';
  return { claim: metadata.name, node: status?.nodeName ?? '', initializedAt };
}
