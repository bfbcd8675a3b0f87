import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';

import type { Context } from '#controller/context.ts';
import { disruptionControllers } from '#controller/disruption/wiring.ts';
import { informers } from '#controller/informers.ts';
import { Revisions } from '#controller/nodeclass/revisions.ts';
import { nodeClassController } from '#controller/nodeclass/wiring.ts';
import { nodePoolController } from '#controller/nodepool/wiring.ts';
import { acmeOf } from '#controller/testing/certificates.ts';
import { FakeClouds } from '#controller/testing/fake-clouds.ts';
import { nodeClaim, nodeClass, nodePool, runningMachine } from '#controller/testing/objects.ts';
import { isNotFound } from '#kube/client/errors.ts';
import { getCondition } from '#kube/conditions.ts';
import { silentLogger } from '#kube/log.ts';
import { Metrics } from '#kube/metrics.ts';
import { NodeClassError } from '#machine/errors.ts';
import { ControlPlane } from '#sandbox/control-plane/control-plane.ts';
import { applyAll } from '#sandbox/manifests/apply.ts';
import { readManifests, render } from '#sandbox/manifests/render.ts';
import { Run } from '#sandbox/processes/run.ts';
import { nodeClaims, nodePools } from '#schemas/karpenter/types.ts';
import {
  controllerRevisions,
  namespaces,
  nodes,
  secrets,
  type Resource,
} from '#schemas/kubernetes/resource.ts';
import { unikraftNodeClasses } from '#schemas/nodeclass/types.ts';
import { milliseconds } from '#schemas/time/clock.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

/**
 * Node classes, pools and the removal of empty machines against a real API server with the real CRDs and the real
 * garbage collector; cloud and machines are made up.
 */

const namespace = 'operator';
const clouds = new FakeClouds();
const stop = new AbortController();
let run: Run;
let plane: ControlPlane;
let context: Context;
let running: Promise<unknown>;

beforeAll(async () => {
  run = await Run.open('pools-test');
  plane = await ControlPlane.start({ tools: inject('tools'), run });
  await applyAll(plane.admin, await readManifests(inject('tools').karpenterCrds));
  await applyAll(plane.admin, await render(inject('tools').kubectl, 'kustomize/crd'));
  await plane.admin.create(namespaces, { metadata: { name: namespace } });
  running = start();
});

afterAll(async () => {
  stop.abort();
  await running;
  await plane?.stop();
  await run?.close();
});

async function start(): Promise<unknown> {
  const clock = new SystemClock();
  const metrics = new Metrics();
  const base = { client: plane.admin, clock, log: silentLogger, namespace };
  const caches = informers({ ...base, metrics, pricesConfigMap: 'prices' });
  context = { ...base, caches, recorder: { record: () => {} }, clusterUid: 'test' };
  const wait = milliseconds(300);
  const controllers = [
    nodeClassController(
      context,
      { clouds, releases: clouds.releases, acme: acmeOf(context) },
      metrics,
    ),
    nodePoolController(context, {}, metrics),
    ...disruptionControllers(context, { plannedFor: () => [], wait }, metrics),
  ];
  const all = [...Object.values(caches), ...controllers];
  return Promise.all(all.map(async (one) => one.run(stop.signal)));
}

const eventually = async (check: () => Promise<void>): Promise<void> =>
  vi.waitFor(check, { timeout: 40_000, interval: 100 });

async function expectGone(
  resource: Resource,
  key: { namespace?: string; name: string },
): Promise<void> {
  await eventually(async () => {
    const there = await plane.admin.get(resource, key).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
    expect(there).toBeUndefined();
  });
}

const classNow = async () => plane.admin.get(unikraftNodeClasses, { name: 'default' });
const conditionNow = async (type: string) =>
  getCondition((await classNow()).status?.conditions, type);

test('a node class becomes Ready, its pool with it, and then says that it was observed', async () => {
  await plane.admin.create(unikraftNodeClasses, nodeClass());
  await plane.admin.create(nodePools, nodePool({ disruption: { consolidateAfter: '0s' } }));
  await eventually(async () => {
    const { status, metadata } = await classNow();
    expect(status?.observedGeneration).toBe(metadata.generation);
    const pool = await plane.admin.get(nodePools, { name: 'web' });
    expect(getCondition(pool.status?.conditions, 'Ready')?.status).toBe('True');
    expect(pool.status?.nodes).toBe(0);
  });
  expect(new Revisions(context).current('default')?.nodeClass.image.id).toBe('ami-1');
});

test('a revision that does not work is Stalled, with a reason the schemas take, and leaves the last in use', async () => {
  const before = (await classNow()).status?.currentRevision;
  clouds.failures.resolve = new NodeClassError(
    { code: 'KPU220', condition: 'ImageReady', reason: 'InvalidAMIID.NotFound' },
    'no such image',
  );
  const body = { spec: { image: { id: 'ami-typo', selectorTerms: null } } };
  await plane.admin.patch(unikraftNodeClasses, { name: 'default' }, { type: 'merge', body });
  await eventually(async () => {
    expect(await conditionNow('Stalled')).toMatchObject({
      status: 'True',
      reason: 'InvalidAMIIDNotFound',
    });
    expect(await conditionNow('Ready')).toMatchObject({
      status: 'True',
      reason: 'UsingStableRevision',
    });
    const pool = await plane.admin.get(nodePools, { name: 'web' });
    expect(getCondition(pool.status?.conditions, 'NodeClassReady')?.reason).toBe(
      'UsingStableRevision',
    );
  });
  expect((await classNow()).status?.currentRevision).toBe(before);
  delete clouds.failures.resolve;
  await eventually(async () => {
    expect(await conditionNow('Stalled')).toMatchObject({ status: 'False' });
  });
  expect((await classNow()).status?.currentRevision).not.toBe(before);
});

test('an empty machine is closed and removed', async () => {
  const { claim, node } = runningMachine('web-1', new Date().toISOString());
  const { status, ...born } = claim;
  await plane.admin.create(nodes, node);
  await plane.admin.create(nodeClaims, born);
  const patch = { type: 'merge', body: { status } } as const;
  await plane.admin.patch(nodeClaims, { name: 'web-1' }, patch, { subresource: 'status' });
  await eventually(async () => {
    const { metadata, status: now } = await plane.admin.get(nodeClaims, { name: 'web-1' });
    expect(metadata.deletionTimestamp).toBeDefined();
    expect(getCondition(now?.conditions, 'DisruptionReason')?.reason).toBe('Empty');
  });
  const closed = await plane.admin.get(nodes, { name: 'web-1' });
  expect(closed.spec?.taints?.map(({ key }) => key)).toContain('karpenter.sh/disrupted');
  await plane.admin.delete(nodes, { name: 'web-1' });
  await plane.admin.patch(
    nodeClaims,
    { name: 'web-1' },
    { type: 'merge', body: { metadata: { finalizers: null } } },
  );
});

test('a node class that is deleted in the foreground keeps its revisions until its last claim is gone', async () => {
  await plane.admin.delete(nodePools, { name: 'web' });
  await plane.admin.create(nodeClaims, nodeClaim('by-hand'));
  const revision = (await classNow()).status?.currentRevision ?? '';
  await plane.admin.delete(
    unikraftNodeClasses,
    { name: 'default' },
    { propagationPolicy: 'Foreground' },
  );
  await eventually(async () => {
    expect((await conditionNow('Deleting'))?.message).toContain('by-hand');
    const kept = await plane.admin.get(controllerRevisions, { namespace, name: revision });
    expect(kept.metadata.deletionTimestamp).toBeDefined(); // the garbage collector has been there
  });
  expect(new Revisions(context).get(revision)).toBeDefined();

  const release = { type: 'merge', body: { metadata: { finalizers: null } } } as const;
  await plane.admin.patch(nodeClaims, { name: 'by-hand' }, release);
  await plane.admin.delete(nodeClaims, { name: 'by-hand' });
  await expectGone(unikraftNodeClasses, { name: 'default' });
  await expectGone(controllerRevisions, { namespace, name: revision });
  await expectGone(secrets, { namespace, name: 'default-ca' });
}, 120_000);
