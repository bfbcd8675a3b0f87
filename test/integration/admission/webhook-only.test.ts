import { mkdtemp, realpath, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';

import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';

import { ControlPlane } from '#sandbox/control-plane/control-plane.ts';
import { applyAll } from '#sandbox/manifests/apply.ts';
import { readManifests, render } from '#sandbox/manifests/render.ts';
import { Run } from '#sandbox/processes/run.ts';
import { nodeClaims, nodePools } from '#schemas/karpenter/types.ts';
import { pods } from '#schemas/kubernetes/resource.ts';
import { unikraftNodeClasses } from '#schemas/nodeclass/types.ts';
import { capacityType, claim, nodeClass, pool } from '#schemas/rules/samples.ts';
import { neighboursClaim, neighboursPool } from '#test/world/neighbours.ts';

import { inject_, podWith } from '../webhook/pods.ts';
import { untilPassed } from './in-force.ts';

/** The component `webhook-only` with all its Pods gone: pools and claims of ours wait for it, and nothing else does. */

const tools = inject('tools');
let run: Run;
let plane: ControlPlane;

beforeAll(async () => {
  run = await Run.open('webhook-only-test');
  plane = await ControlPlane.start({ tools, run, audit: false });
  await applyAll(plane.admin, await readManifests(tools.karpenterCrds));
  await applyAll(plane.admin, await render(tools.kubectl, 'kustomize/crd'));
  await plane.admin.create(nodePools, { ...pool([]), metadata: { name: 'older' } });
  const folder = await realpath(await mkdtemp(join(run.dir, 'kustomization-')));
  const to = (path: string): string => relative(folder, resolve('kustomize', path));
  const kustomization = { resources: [to('default')], components: [to('components/webhook-only')] };
  await writeFile(join(folder, 'kustomization.yaml'), JSON.stringify(kustomization));
  const manifests = await render(tools.kubectl, folder);
  const running = manifests.filter(({ kind }) => kind !== 'Deployment');
  await applyAll(plane.admin, running);
  await untilPassed(async () => {
    const passes = await plane.admin.create(nodePools, pool([]), dryRun).catch(() => undefined);
    if (passes) throw new Error('the webhook is not in force');
  });
}, 120_000);

afterAll(async () => {
  await plane?.stop();
  await run?.close();
});

const dryRun = { dryRun: true } as const;
const notReached = /failed calling webhook "rules\.karpenter\.unikraft\.com"/;

describe('with its Pods gone', () => {
  test('a pool or claim of ours is not made and not changed, good or bad', async () => {
    await expect(plane.admin.create(nodePools, pool([]), dryRun)).rejects.toThrow(notReached);
    const spot = pool([capacityType('In', 'spot')]);
    await expect(plane.admin.create(nodePools, spot, dryRun)).rejects.toThrow(notReached);
    await expect(plane.admin.create(nodeClaims, claim([]), dryRun)).rejects.toThrow(notReached);
    const body = { spec: { weight: 10 } };
    const changed = plane.admin.patch(nodePools, { name: 'older' }, { type: 'merge', body });
    await expect(changed).rejects.toThrow(notReached);
  });

  test('labels, finalizers and status of one are written, and it goes when it is deleted', async () => {
    const key = { name: 'older' };
    const metadata = { labels: { seen: 'yes' }, finalizers: ['example.com/a'] };
    await plane.admin.patch(nodePools, key, { type: 'merge', body: { metadata } });
    const status = { type: 'merge', body: { status: { nodes: 0 } } } as const;
    await plane.admin.patch(nodePools, key, status, { subresource: 'status' });
    await plane.admin.delete(nodePools, key);
    const done = { type: 'merge', body: { metadata: { finalizers: null } } } as const;
    await plane.admin.patch(nodePools, key, done);
    expect((await plane.admin.list(nodePools)).items).toEqual([]);
  });

  test('other providers notice nothing', async () => {
    await expect(plane.admin.create(nodePools, neighboursPool(), dryRun)).resolves.toBeTruthy();
    const theirs = neighboursClaim('theirs');
    await expect(plane.admin.create(nodeClaims, theirs, dryRun)).resolves.toBeTruthy();
  });

  test('Pods and node classes pass, and rules of node classes hold', async () => {
    const asking = podWith({ labels: { [inject_]: 'true' } });
    await expect(plane.admin.create(pods, asking, dryRun)).resolves.toBeTruthy();
    const good = nodeClass();
    await expect(plane.admin.create(unikraftNodeClasses, good, dryRun)).resolves.toBeTruthy();
    const bad = nodeClass({ image: {} });
    await expect(plane.admin.create(unikraftNodeClasses, bad, dryRun)).rejects.toThrow(/KPU111/);
  });
});
