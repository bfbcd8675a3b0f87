import { globSync } from 'node:fs';
import { dirname } from 'node:path';

import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';

import { isTrue } from '#kube/conditions.ts';
import { Discovery } from '#sandbox/manifests/discovery.ts';
import { render, type Manifest } from '#sandbox/manifests/render.ts';
import { readSample } from '#sandbox/world/installation.ts';
import { nodePools } from '#schemas/karpenter/types.ts';
import type { KubeObject, Live } from '#schemas/kubernetes/meta.ts';
import type { Key, Resource } from '#schemas/kubernetes/resource.ts';
import { unikraftNodeClasses } from '#schemas/nodeclass/types.ts';
import { minutes } from '#schemas/time/clock.ts';
import { TestWorld } from '#test/world/test-world.ts';

import { kubectl } from '../webhook/installed-webhook.ts';
import { inParallel } from './asking.ts';

/** The samples, and the installation itself, in the hands of tools that apply them again and again. */

const tools = inject('tools');
const folders = ['1-nodeclass', '2-nodepools', '3-workloads'];
let world: TestWorld;
let discovery: Discovery;
let samples: Manifest[];
let installation: Manifest[];

beforeAll(async () => {
  world = await TestWorld.start(tools);
  discovery = new Discovery(world.client);
  samples = (await Promise.all(folders.map((folder) => readSample(tools, `aws/${folder}`)))).flat();
  // What the API server calls by URL here is tried in release.test.ts; nobody runs the Deployments.
  installation = (await render(tools.kubectl, 'kustomize/default')).filter(
    ({ kind }) => kind !== 'Deployment' && !kind.endsWith('WebhookConfiguration'),
  );
}, 180_000);
afterAll(async () => world?.stop());

async function placeOf(object: Manifest): Promise<{ resource: Resource; key: Key }> {
  const resource = await discovery.find(object);
  if (!resource) throw new Error(`nobody serves ${object.kind}`);
  const { namespace, name } = object.metadata;
  return { resource, key: namespace === undefined ? { name } : { namespace, name } };
}

interface How {
  readonly fieldManager: string;
  readonly dryRun?: boolean;
}

/** As Flux and Argo CD do it server-side: taking over what somebody else holds. */
async function applied(object: Manifest, how: How): Promise<Live<KubeObject>> {
  const { resource, key } = await placeOf(object);
  return world.client.patch(resource, key, { type: 'apply', body: object, force: true }, how);
}

async function live(object: Manifest): Promise<Live<KubeObject>> {
  const { resource, key } = await placeOf(object);
  return world.client.get(resource, key);
}

/** What a tool looks at to tell whether an object is as it should be. */
function seen({ metadata, ...rest }: Live<KubeObject>): object {
  const { managedFields: _, resourceVersion: __, ...meta } = metadata;
  return { ...rest, metadata: meta };
}

function versions(objects: readonly Live<KubeObject>[]): string[] {
  return objects.map(
    ({ kind, metadata: { name, generation, resourceVersion } }) =>
      `${kind} ${name}: generation ${generation}, version ${resourceVersion}`,
  );
}

/** Everything is Ready, and has not been written to for a while. */
async function settled(all: readonly Manifest[]): Promise<void> {
  let [last, looks] = ['', 0];
  await world.eventually('all is Ready and nothing moves', async () => {
    const classes = (await world.client.list(unikraftNodeClasses)).items;
    const pools = (await world.client.list(nodePools)).items;
    const isReady = [...classes, ...pools].every(({ status }) =>
      isTrue(status?.conditions, 'Ready'),
    );
    const now = versions(await inParallel(all, live)).join('\n');
    looks = isReady && now === last ? looks + 1 : 0;
    last = now;
    return looks === 10;
  });
}

/** Every folder of the samples that can be applied; the API server has no cert-manager that would take an issuer. */
const sampleFolders = globSync('kustomize/samples/**/kustomization.yaml')
  .map((file) => dirname(file))
  .filter((folder) => !folder.endsWith('/1-issuer'));

test('kubectl takes each sample in a dry run, without a warning', async () => {
  expect(sampleFolders.length).toBeGreaterThan(14);
  const printed = await inParallel(sampleFolders, async (folder) =>
    kubectl(world.world.plane, tools, ['apply', '--dry-run=server', '-k', folder]),
  );
  const lines = printed.flatMap((text) => text.trim().split('\n'));
  expect(lines.filter((line) => !line.endsWith(' created (server dry run)'))).toEqual([]);
});

describe.each(['kustomize-controller', 'argocd-controller'])('applied by %s', (fieldManager) => {
  test('a dry run of everything is refused by nothing', async () => {
    const all = [...samples, ...installation];
    const tried = await inParallel(all, async (one) =>
      applied(one, { fieldManager, dryRun: true }),
    );
    expect(tried).toHaveLength(all.length);
    expect(all.length).toBeGreaterThan(25);
  });

  test('a second time, nothing differs', async () => {
    const all = [...installation, ...samples];
    await inParallel(all, async (one) => applied(one, { fieldManager }));
    await settled(all);
    const before = await inParallel(all, live);
    const again = await inParallel(all, async (one) =>
      applied(one, { fieldManager, dryRun: true }),
    );
    expect(again.map(seen)).toEqual(before.map(seen));
    const items = { apiVersion: 'v1', kind: 'List', items: all };
    const words = ['diff', '--server-side', '--force-conflicts', `--field-manager=${fieldManager}`];
    expect(await kubectl(world.world.plane, tools, [...words, '-f', '-'], items)).toBe('');
  });

  test('fifteen times, with the operator at work, no version or generation moves', async () => {
    const all = [...installation, ...samples];
    const before = versions(await inParallel(all, live));
    for (let round = 0; round < 15; round++) {
      // oxlint-disable-next-line no-await-in-loop -- a reconcile each minute
      const tried = await inParallel(all, async (one) =>
        applied(one, { fieldManager, dryRun: true }),
      );
      // oxlint-disable-next-line no-await-in-loop -- as above
      expect(tried.map(seen)).toEqual((await inParallel(all, live)).map(seen));
      // oxlint-disable-next-line no-await-in-loop -- as above
      await inParallel(all, async (one) => applied(one, { fieldManager }));
      // oxlint-disable-next-line no-await-in-loop -- as above
      await world.clock.forward(minutes(1));
    }
    expect(versions(await inParallel(all, live))).toEqual(before);
  });

  test('what people write stays as they wrote it', async () => {
    const found = await inParallel(samples, live);
    const specs = found.map((one) => (one as { spec?: object }).spec);
    const written = samples.map((one) => (one as { spec?: object }).spec);
    specs.forEach((spec, index) => expect(spec).toMatchObject(written[index] ?? {}));
    const managers = found.flatMap(({ metadata }) =>
      (metadata.managedFields as { manager: string; fieldsV1: object; subresource?: string }[])
        .filter(({ fieldsV1, subresource }) => !subresource && 'f:spec' in fieldsV1)
        .map(({ manager }) => manager),
    );
    expect(managers).not.toContain('karpenter-provider-unikraft');
  });
});
