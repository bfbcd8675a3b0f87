import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';

import { ControlPlane } from '#sandbox/control-plane/control-plane.ts';
import { applyAll } from '#sandbox/manifests/apply.ts';
import { readManifests, render } from '#sandbox/manifests/render.ts';
import { Run } from '#sandbox/processes/run.ts';
import { nodePools } from '#schemas/karpenter/types.ts';
import type { KubeObject, Live } from '#schemas/kubernetes/meta.ts';
import { pods, type Key, type Resource } from '#schemas/kubernetes/resource.ts';
import { capacityType, nodeClass, pool } from '#schemas/rules/samples.ts';
import { rules } from '#schemas/rules/table.ts';

import { inParallel } from './asking.ts';
import { bare, withoutRules } from './bare-crds.ts';

/**
 * Objects that were there before the rules they break. Whoever has to label, finish or remove them must be able to, or
 * nothing could ever clean them up; only their spec is not to get worse.
 */

interface Old {
  readonly name: string;
  readonly resource: Resource;
  readonly key: Key;
  readonly object: KubeObject;
}

/** One object for each sample that is refused today, and one that holds what its CRD has no schema for. */
const older: readonly Old[] = [
  ...rules
    .filter(({ severity, target }) => severity === 'deny' && target !== pods)
    .flatMap(({ name, target, rejects }) =>
      rejects.map((object, index) => ({ name: `${name} ${index}`, resource: target, object })),
    ),
  {
    name: 'a chart without version, and with values',
    resource: rules.find(({ target }) => target.kind === nodeClass().kind)!.target,
    object: nodeClass({
      kraftlet: {
        chart: 'oci://example.com/kraftlet',
        values: { image: { tag: 'a' }, list: [{}] },
      },
    }),
  },
].map((one, index) => ({ ...one, key: { name: `old-${index}` } }));

const tools = inject('tools');
let run: Run;
let plane: ControlPlane;

beforeAll(async () => {
  run = await Run.open('older-objects-test');
  plane = await ControlPlane.start({ tools, run, audit: false });
  const crds = await render(tools.kubectl, 'kustomize/crd');
  const karpenters = bare(await readManifests(tools.karpenterCrds));
  await applyAll(plane.admin, [...karpenters, ...withoutRules(crds)]);
  await inParallel(older, async ({ resource, key, object }) =>
    plane.admin.create(resource, { ...object, metadata: { ...object.metadata, ...key } }),
  );
  await applyAll(plane.admin, [...crds, ...(await render(tools.kubectl, 'kustomize/policies'))]);
  await vi.waitFor(allRefused, { timeout: 60_000, interval: 500 });
}, 180_000);

afterAll(async () => {
  await plane?.stop();
  await run?.close();
});

/** Each of them would be refused if it were made now. */
async function allRefused(): Promise<void> {
  const errors = await inParallel(older, async ({ resource, object, name }) => {
    const made = { ...object, metadata: { ...object.metadata, name: 'new' } };
    return plane.admin.create(resource, made, { dryRun: true }).then(
      () => `${name} is not refused`,
      () => undefined,
    );
  });
  expect(errors.filter(Boolean)).toEqual([]);
}

/** Names of those for which a write is refused, with why. */
async function refused(write: (one: Old) => Promise<unknown>): Promise<string[]> {
  const answers = await inParallel(older, async (one) =>
    write(one).then(
      () => undefined,
      (error: unknown) => `${one.name}: ${String(error)}`,
    ),
  );
  return answers.filter((one) => one !== undefined);
}

async function merge({ resource, key }: Old, metadata: object): Promise<Live<KubeObject>> {
  return plane.admin.patch(resource, key, { type: 'merge', body: { metadata } });
}

describe('an object that was there before its rule', () => {
  test('takes labels, annotations and finalizers, and gives them back', async () => {
    expect(older.length).toBeGreaterThan(80);
    const labels = { seen: 'yes' };
    expect(await refused(async (one) => merge(one, { labels, annotations: labels }))).toEqual([]);
    expect(await refused(async (one) => merge(one, { finalizers: ['example.com/a'] }))).toEqual([]);
    expect(await refused(async (one) => merge(one, { labels: { seen: null } }))).toEqual([]);
  });

  test('takes a status', async () => {
    const status = { observedGeneration: 1 };
    const write = async ({ resource, key }: Old): Promise<unknown> =>
      plane.admin.patch(
        resource,
        key,
        { type: 'merge', body: { status } },
        { subresource: 'status' },
      );
    expect(await refused(write)).toEqual([]);
  });

  test('does not change for the worse, not even while it is being deleted', async () => {
    const [broken] = older.filter(({ object }) => object.kind === nodePools.kind);
    if (!broken) throw new Error('no rule refuses a NodePool');
    await plane.admin.delete(nodePools, broken.key); // its finalizer keeps it
    const { spec } = pool([capacityType('NotIn', 'on-demand', 'reserved')]);
    const worse = plane.admin.patch(nodePools, broken.key, { type: 'merge', body: { spec } });
    await expect(worse).rejects.toMatchObject({ code: 422, reason: 'Invalid' });
  });

  test('goes when it is deleted and its finalizer is taken off', async () => {
    expect(await refused(async ({ resource, key }) => plane.admin.delete(resource, key))).toEqual(
      [],
    );
    expect(await refused(async (one) => merge(one, { finalizers: null }))).toEqual([]);
    const { items } = await plane.admin.list(nodePools);
    expect(items.map(({ metadata }) => metadata.name)).toEqual([]);
  });
});
