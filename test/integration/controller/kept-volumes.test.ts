import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';

import { keptClaim, keptClass, keptCsiNode, keptVolume } from '#controller/kept-volumes.ts';
import { ShapeReader } from '#kube/shapes/shape-reader.ts';
import type { ObjectShape } from '#kube/shapes/shape.ts';
import { ControlPlane } from '#sandbox/control-plane/control-plane.ts';
import { Run } from '#sandbox/processes/run.ts';
import type { KubeObject } from '#schemas/kubernetes/meta.ts';
import {
  csiNodes,
  persistentVolumeClaims,
  persistentVolumes,
  storageClasses,
  type Resource,
} from '#schemas/kubernetes/resource.ts';

import { storageWithEverything } from './storage-with-everything.ts';

/** As for Pods: the real API server writes both forms, and what is kept of both has to be the same. */

let run: Run;
let plane: ControlPlane;

beforeAll(async () => {
  run = await Run.open('kept-volumes-test');
  plane = await ControlPlane.start({ tools: inject('tools'), run });
});

afterAll(async () => {
  await plane?.stop();
  await run?.close();
});

/** All objects of a kind, by name, as a watch in protobuf gives what is kept of them. */
async function watched(resource: Resource, kept: ObjectShape<KubeObject>) {
  const found = new Map<string, KubeObject>();
  const stop = new AbortController();
  const reader = new ShapeReader<KubeObject>(kept);
  const options = { timeoutSeconds: 60, sendInitialEvents: true, signal: stop.signal, reader };
  for await (const { type, object } of plane.admin.watch(resource, options as never)) {
    if (type === 'BOOKMARK') break;
    const one = object as KubeObject;
    found.set(one.metadata?.name ?? '', one);
  }
  stop.abort();
  return found;
}

const { claims, volumes, classes, csiNodes: csi } = storageWithEverything;

test.each([
  ['claims', persistentVolumeClaims, keptClaim, claims],
  ['volumes', persistentVolumes, keptVolume, volumes],
  ['classes of storage', storageClasses, keptClass, classes],
  ['CSINodes', csiNodes, keptCsiNode, csi],
])('what is kept of %s is the same, whether they came as protobuf or as JSON', async (...row) => {
  const [, resource, kept, objects] = row as unknown as [
    string,
    Resource,
    ObjectShape<KubeObject>,
    readonly KubeObject[],
  ];
  await Promise.all(objects.map(async (object) => plane.admin.create(resource, object)));

  const reader = new ShapeReader<KubeObject>(kept);
  // Controllers of the cluster write on them too, and what is compared has to be of one moment.
  await vi.waitFor(async () => {
    const found = await watched(resource, kept);
    const { items } = await plane.admin.list(resource);
    expect(items.length).toBeGreaterThanOrEqual(objects.length);
    expect(new Map([...found].map(([name, one]) => [name, bare(one)]))).toEqual(
      new Map(items.map((whole) => [whole.metadata.name, reader.fromJson(whole)])),
    );
    const [first] = objects;
    expect(found.get(first?.metadata?.name ?? '')).toMatchObject(expectations[row[0]] ?? {});
  }, 20_000);
});

/** Which kind it is stands beside every message in protobuf, whether or not it is kept. */
function bare(object: KubeObject): object {
  const beside = new Set(['apiVersion', 'kind']);
  return Object.fromEntries(Object.entries(object).filter(([name]) => !beside.has(name)));
}

/** What must not be lost in both forms. */
const expectations: Readonly<Record<string, object>> = {
  claims: {
    metadata: {
      annotations: { 'pv.kubernetes.io/bind-completed': 'yes' },
      ownerReferences: [{ kind: 'Pod', uid: '1' }],
    },
    spec: { volumeName: 'csi', storageClassName: 'fast' },
    status: { phase: expect.any(String) },
  },
  volumes: {
    metadata: { labels: { 'topology.kubernetes.io/zone': '1a' } },
    spec: {
      csi: { driver: 'disk.example.com' },
      nodeAffinity: { required: { nodeSelectorTerms: [{}, {}] } },
    },
  },
  'classes of storage': {
    provisioner: 'disk.example.com',
    volumeBindingMode: 'WaitForFirstConsumer',
    allowedTopologies: [
      { matchLabelExpressions: [{ key: 'topology.kubernetes.io/zone', values: ['1a', '1b'] }] },
    ],
  },
  CSINodes: {
    spec: {
      drivers: [{ allocatable: { count: 25 } }, { allocatable: { count: 0 } }, { name: 'any' }],
    },
  },
};
