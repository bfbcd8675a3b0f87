import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';

import { keptPod } from '#controller/kept-pod.ts';
import type { WatchEvent } from '#kube/client/client.ts';
import { ShapeReader } from '#kube/shapes/shape-reader.ts';
import { ControlPlane } from '#sandbox/control-plane/control-plane.ts';
import { Run } from '#sandbox/processes/run.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import type { KubeObject, Live } from '#schemas/kubernetes/meta.ts';
import { nodes, pods, resource } from '#schemas/kubernetes/resource.ts';

import {
  everything,
  priorityClass,
  runtimeClass,
  statusOfEverything,
} from './pod-with-everything.ts';

/**
 * The real API server writes Pods in protobuf and in JSON, and what the controller keeps of both has to be the same: a
 * wrong number of a field would show as a field that is missing or strange.
 */

const priorityClasses = resource<KubeObject>(
  'scheduling.k8s.io/v1',
  'PriorityClass',
  'priorityclasses',
  'Cluster',
);
const runtimeClasses = resource<KubeObject>(
  'node.k8s.io/v1',
  'RuntimeClass',
  'runtimeclasses',
  'Cluster',
);
const key = { namespace: 'default', name: 'everything' };
let run: Run;
let plane: ControlPlane;

beforeAll(async () => {
  run = await Run.open('kept-pods-test');
  plane = await ControlPlane.start({ tools: inject('tools'), run });
  await plane.admin.create(priorityClasses, priorityClass);
  await plane.admin.create(runtimeClasses, runtimeClass);
  await plane.admin.create(pods, everything);
});

afterAll(async () => {
  await plane?.stop();
  await run?.close();
});

function watching(labelSelector?: string) {
  const reader = new ShapeReader<Live<Pod>>(keptPod as never);
  const fromProtobuf = vi.spyOn(reader, 'fromProtobuf');
  const stop = new AbortController();
  const events = plane.admin
    .watch(pods, {
      namespace: 'default',
      timeoutSeconds: 60,
      sendInitialEvents: true,
      ...(labelSelector !== undefined && { labelSelector }),
      signal: stop.signal,
      reader,
    })
    [Symbol.asyncIterator]();
  const next = async (): Promise<WatchEvent<Live<Pod>>> => {
    const { value, done } = await events.next();
    if (done) throw new Error('the watch ended');
    return value;
  };
  return { next, fromProtobuf, end: () => stop.abort() };
}

const asKept = async (): Promise<Pod> => {
  const whole = await plane.admin.get(pods, key);
  return new ShapeReader<Pod>(keptPod).fromJson(whole);
};

test('what is kept of a Pod is the same, whether it came as protobuf or as JSON', async () => {
  const { next, fromProtobuf, end } = watching();
  const [first, bookmark] = [await next(), await next()];
  expect(first).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'everything' } } });
  expect(fromProtobuf).toHaveBeenCalledOnce();
  expect(bookmark).toMatchObject({
    type: 'BOOKMARK',
    object: {
      kind: 'Pod',
      metadata: {
        annotations: { 'k8s.io/initial-events-end': 'true' },
        resourceVersion: expect.stringMatching(/^\d+$/),
      },
    },
  });

  const body = statusOfEverything;
  const whole = await plane.admin.patch(
    pods,
    key,
    { type: 'merge', body },
    { subresource: 'status' },
  );
  const { resourceVersion } = whole.metadata;
  let event = await next();
  // Controllers of the cluster write on the Pod as well.
  while (event.type !== 'MODIFIED' || event.object.metadata.resourceVersion !== resourceVersion) {
    event = await next(); // oxlint-disable-line no-await-in-loop -- one after the other
  }
  expect(event.object).toEqual(new ShapeReader<Pod>(keptPod).fromJson(whole));
  expect(event.object.status).toMatchObject({ reason: 'Grüße 🚀', nominatedNodeName: 'node-1' });
  end();
});

test('what placing looks at is kept as it was', async () => {
  const whole = await plane.admin.get(pods, key);
  const kept = await asKept();
  const { affinity, tolerations, topologySpreadConstraints, nodeSelector, overhead } =
    whole.spec ?? {};
  expect(kept.spec).toMatchObject({
    affinity,
    tolerations,
    topologySpreadConstraints,
    nodeSelector,
    overhead,
  });
  expect(kept.spec?.containers.map((one) => one.resources)).toEqual(
    whole.spec?.containers.map((one) => one.resources),
  );
  expect(kept.spec).toMatchObject({
    priority: -5,
    resources: { requests: { cpu: '3' } },
    resourceClaims: [{ name: 'gpu' }],
    schedulingGates: [{ name: 'example.com/held' }],
    initContainers: [{ name: 'first' }, { name: 'sidecar', restartPolicy: 'Always' }],
    volumes: [
      { name: 'data' },
      { name: 'scratch' },
      { name: 'inline', csi: { driver: 'csi.example.com' } },
      { name: 'aws', awsElasticBlockStore: { volumeID: 'v' } },
      { name: 'gce', gcePersistentDisk: { pdName: 'v' } },
      { name: 'azure-disk', azureDisk: { diskURI: 'https://disk' } },
      { name: 'azure-file', azureFile: { shareName: 'v' } },
      { name: 'cinder', cinder: { volumeID: 'v' } },
      { name: 'vsphere', vsphereVolume: { volumePath: 'v' } },
      { name: 'portworx', portworxVolume: { volumeID: 'v' } },
    ],
  });
  expect(kept.spec?.containers[0]?.ports).toEqual([
    { containerPort: 8080, hostPort: 18_080, hostIP: '127.0.0.1', protocol: 'TCP' },
  ]);
  expect(kept.metadata?.labels).toEqual(whole.metadata.labels);
  expect(kept.metadata?.ownerReferences).toEqual(whole.metadata.ownerReferences);
  expect(kept.metadata?.finalizers).toEqual(whole.metadata.finalizers);
});

test('who asks for protobuf is refused in words all the same', async () => {
  const reader = new ShapeReader<Live<Pod>>(keptPod as never);
  const events = plane.admin.watch(pods, {
    timeoutSeconds: 60,
    labelSelector: 'no selector!',
    reader,
  });
  const refused = events[Symbol.asyncIterator]().next();
  await expect(refused).rejects.toMatchObject({ name: 'ApiError', code: 400 });
  await expect(refused).rejects.toThrow('unable to parse requirement');
});

/** Each has a token volume of its own, and its name in each container. */
test('Pods of one template have one spec, and on their nodes all that is in it', async () => {
  const twin = (name: string): Pod => ({
    metadata: { name, namespace: 'default', labels: { twin: 'yes' } },
    spec: {
      schedulerName: 'nobody',
      containers: [
        { name: 'web', image: `web:${name}`, resources: { requests: { cpu: '1' } } },
        { name: 'proxy', image: 'proxy', ports: [{ containerPort: 80 }] },
      ],
    },
  });
  await plane.admin.create(nodes, { metadata: { name: 'node-1' } });
  for (const name of ['one', 'two', 'placed']) {
    await plane.admin.create(pods, twin(name)); // oxlint-disable-line no-await-in-loop -- in order
  }
  const binding = { metadata: { name: 'placed' }, target: { kind: 'Node', name: 'node-1' } };
  await plane.admin.createSubresource(pods, { namespace: 'default', name: 'placed' }, 'binding', {
    apiVersion: 'v1',
    kind: 'Binding',
    ...binding,
  });
  const { next, end } = watching('twin=yes');
  const seen = new Map<string, Pod>();
  for (let i = 0; i < 3; i++) {
    const { object } = await next(); // oxlint-disable-line no-await-in-loop -- one after the other
    seen.set((object as Live<Pod>).metadata.name, object as Live<Pod>);
  }
  end();
  const [one, two, placed] = ['one', 'two', 'placed'].map((name) => seen.get(name)?.spec);
  expect(two).toBe(one);
  expect(placed).toEqual({ ...one, nodeName: 'node-1' });
  expect(placed?.containers).toBe(one?.containers);
  const whole = await plane.admin.get(pods, { namespace: 'default', name: 'one' });
  expect(whole.spec?.volumes).toMatchObject([{ name: expect.stringMatching('kube-api-access-') }]);
});
