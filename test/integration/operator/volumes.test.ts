import { afterAll, beforeAll, expect, inject, test } from 'vitest';

import { nodes, persistentVolumeClaims } from '#schemas/kubernetes/resource.ts';
import { labels } from '#schemas/names.ts';
import { chart, nodeClass, nodePool, optedInPod } from '#test/world/objects.ts';
import { TestWorld } from '#test/world/test-world.ts';

const driver = 'disk.example.com';
const zone = 'eu-central-1b';
let world: TestWorld;

beforeAll(async () => {
  world = await TestWorld.start(inject('tools'));
});
afterAll(async () => world?.stop());

const small = { cpu: '500m' };
const mounting = (claimName: string) => ({
  volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }],
});

/** A disk that is in one zone, for the claim of its name alone. */
const disk = (name: string) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: `disk-${name}` },
  spec: {
    accessModes: ['ReadWriteOnce'],
    capacity: { storage: '1Gi' },
    claimRef: { namespace: 'default', name },
    csi: { driver, volumeHandle: name },
    nodeAffinity: {
      required: {
        nodeSelectorTerms: [
          { matchExpressions: [{ key: labels.zone, operator: 'In', values: [zone] }] },
        ],
      },
    },
  },
});

const claim = (name: string) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name, namespace: 'default' },
  spec: {
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: '1Gi' } },
    storageClassName: '',
  },
});

async function expectBound(name: string): Promise<void> {
  const key = { namespace: 'default', name };
  await world.eventually(`claim ${name} bound`, async () => {
    const { status } = await world.client.get(persistentVolumeClaims, key);
    return status?.phase === 'Bound';
  });
}

/** In an event of the operator about the Pod. */
async function expectTold(name: string, text: string): Promise<void> {
  await world.eventually(`told of Pod ${name}: ${text}`, async () =>
    (await world.eventsOfOperator()).some(
      ({ involvedObject, message = '' }) => involvedObject.name === name && message.includes(text),
    ),
  );
}

test('K18 K20: a Pod waits for its claim, then for the driver, then gets a machine where its volume is', async () => {
  await world.expectUsable(nodeClass());
  await world.expectApplied(nodePool(), optedInPod('stateful', small, mounting('data')));
  await expectTold('stateful', 'its volume claim "data" does not exist');

  await world.expectApplied(disk('data'), claim('data'));
  await expectBound('data');
  await expectTold('stateful', `values.csi.plugins["${driver}"]`);
  expect(await world.claims()).toEqual([]);

  const csi = { plugins: { [driver]: 'disk-csi.storage.svc:9000' } };
  await world.expectUsable(
    nodeClass({ kraftlet: { chart, namespace: 'kraftlet', values: { csi } } }),
  );

  const placed = await world.expectScheduled('stateful');
  const node = await world.client.get(nodes, { name: placed.spec?.nodeName ?? '' });
  expect(node.metadata.labels?.[labels.zone]).toBe(zone);
  expect(await world.claims()).toHaveLength(1);
});
