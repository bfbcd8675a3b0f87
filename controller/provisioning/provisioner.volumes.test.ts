/** Pods with volumes. Numbers are those of docs/reference/karpenter-behaviour.md. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import type { PodSpec } from '#schemas/kubernetes/core.ts';
import { pods } from '#schemas/kubernetes/resource.ts';
import { labels } from '#schemas/names.ts';
import { seconds } from '#schemas/time/clock.ts';

import { csi, inZone, mounts, onNodes } from './volumes/testing/storage.ts';
import { VolumeWorld } from './volumes/testing/volume-world.ts';

const window = seconds(2);
let world: VolumeWorld;
beforeEach(() => {
  world = new VolumeWorld();
  world.seedPool('web');
});
afterEach(() => world.end());

describe('K18: a claim that cannot be mounted keeps its Pod waiting, says why, and holds up nobody', () => {
  const faults: [string, () => void, string][] = [
    ['missing', () => {}, 'does not exist; make PersistentVolumeClaim shop/data'],
    [
      'lost',
      () => world.storage.claim('data', 'fast', { status: { phase: 'Lost' } }),
      'has lost its PersistentVolume',
    ],
    [
      'being deleted',
      () =>
        world.storage.claim('data', 'fast', {
          metadata: { deletionTimestamp: world.clock.stamp() },
        }),
      'is being deleted',
    ],
    ['without a class', () => world.storage.claim('data', ''), 'is not bound and has no class'],
    [
      'of a class that is missing',
      () => world.storage.claim('data', 'slow'),
      'is of StorageClass slow, which does not exist',
    ],
    [
      'unbound, of a class that binds at once',
      () => {
        world.storage.storageClass('fast', { mode: 'Immediate' });
        world.storage.claim('data', 'fast');
      },
      'is not bound, and volumes of its StorageClass fast are made before any Pod has a node',
    ],
    [
      'of a volume that is gone',
      () => world.storage.claim('data', 'fast', { spec: { volumeName: 'pv-data' } }),
      'is of PersistentVolume pv-data, which does not exist',
    ],
  ];

  test.each(faults)('%s', async (_, seed, told) => {
    seed();
    const { nominations } = world.startWithDriver();
    world.seedPod('stateful', {}, { spec: mounts('data') });
    const plain = world.seedPod('plain');
    await world.clock.forward(window);

    expect(world.claims).toHaveLength(1);
    expect(nominations.claimOf(world.pod(plain))).toBe(world.claims[0]?.metadata.name);
    expect(world.toldOf('plain')).toEqual([]);
    expect(world.toldOf('stateful')[0]).toContain(`NodePool web: its volume claim "data" ${told}`);
    expect(world.toldOf('stateful')[0]).toContain('(KPU353)');
  });

  test('until it is made: that wakes planning', async () => {
    world.startWithDriver();
    world.seedPod('stateful', {}, { spec: mounts('data') });
    await world.clock.forward(window);
    expect(world.claims).toEqual([]);

    world.storage.storageClass('fast');
    world.storage.claim('data', 'fast');
    await world.clock.forward(window);

    expect(world.claims).toHaveLength(1);
  });

  test('until it is bound, by a class that binds at once', async () => {
    world.storage.storageClass('fast', { mode: 'Immediate' });
    world.storage.claim('data', 'fast');
    world.startWithDriver();
    world.seedPod('stateful', {}, { spec: mounts('data') });
    await world.clock.forward(window);
    expect(world.claims).toEqual([]);

    world.storage.bound('data', { ...csi, ...onNodes(inZone('1b')) });
    await world.clock.forward(window);

    expect(world.zones).toEqual([['1b']]);
  });

  test('and is told at once when it is something else that is wrong', async () => {
    world.startWithDriver();
    world.seedPod('stateful', {}, { spec: mounts('data') });
    await world.clock.forward(window);
    world.storage.claim('data', 'slow');
    await world.clock.forward(window);
    expect(world.toldOf('stateful').at(-1)).toContain('StorageClass slow, which does not exist');
    const [first, second] = world
      .notesOf('FailedScheduling')
      .map(({ dedupeValues }) => dedupeValues);
    expect(second).not.toEqual(first);
  });

  test('a Pod whose claims are of others hears nothing of a change, and is looked at in its turn', async () => {
    world.startWithDriver();
    world.seedPod('stateful', {}, { spec: mounts('data') });
    await world.clock.forward(window);
    const before = world.notesOf('FailedScheduling').length;
    world.storage.claim('other', 'fast');
    await world.clock.forward(window);
    expect(world.notesOf('FailedScheduling')).toHaveLength(before);
  });
});

describe('K19: an unbound claim of a class that waits for its Pod brings the machine into a zone of the class', () => {
  test('of a claim of its own', async () => {
    world.storage.storageClass('fast', { zones: ['1b'] });
    world.storage.claim('data', 'fast');
    world.startWithDriver();
    world.seedPod('stateful', {}, { spec: mounts('data') });
    await world.clock.forward(window);
    expect(world.zones).toEqual([['1b']]);
  });

  test('of an ephemeral volume, whose claim is made for the Pod', async () => {
    world.storage.storageClass('fast', { zones: ['1b'] });
    world.startWithDriver();
    const spec = { volumes: [{ name: 'scratch', ephemeral: {} }] } as unknown as PodSpec;
    world.seedPod('p', {}, { spec });
    await world.clock.forward(window);
    expect(world.toldOf('p')[0]).toContain('its volume claim "p-scratch" is not made yet');

    const { uid } = world.client.peek(pods, { namespace: 'shop', name: 'p' })!.metadata;
    const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid };
    world.storage.claim('p-scratch', 'fast', { metadata: { ownerReferences: [owner] } });
    await world.clock.forward(window);

    expect(world.zones).toEqual([['1b']]);
  });

  test('and a class that says nothing of zones leaves them open', async () => {
    world.storage.storageClass('fast');
    world.storage.claim('data', 'fast');
    world.startWithDriver();
    world.seedPod('stateful', {}, { spec: mounts('data') });
    await world.clock.forward(window);
    expect(world.claims).toHaveLength(1);
    expect(world.zones).toEqual(['any']);
  });
});

describe('K20: a bound claim brings the machine to where its volume is', () => {
  test('whatever its class says', async () => {
    world.storage.storageClass('fast', { zones: ['1a'] });
    world.storage.bound('data', { ...csi, ...onNodes(inZone('1b')) });
    world.startWithDriver();
    world.seedPod('stateful', {}, { spec: mounts('data') });
    await world.clock.forward(window);
    expect(world.zones).toEqual([['1b']]);
  });

  test('also where its class is gone, or was never any', async () => {
    world.storage.bound('data', { ...csi, ...onNodes(inZone('1b')) }, { storageClassName: '' });
    world.startWithDriver();
    world.seedPod('stateful', {}, { spec: mounts('data') });
    await world.clock.forward(window);
    expect(world.zones).toEqual([['1b']]);
  });
});

test('K21: a volume in a zone that no machine can be in keeps its Pod waiting', async () => {
  world.storage.bound('data', { ...csi, ...onNodes(inZone('9z')) });
  world.startWithDriver();
  world.seedPod('stateful', {}, { spec: mounts('data') });
  await world.clock.forward(window);
  expect(world.claims).toEqual([]);
  expect(world.toldOf('stateful')[0]).toContain('topology.kubernetes.io/zone');
});

test('K21: so do volumes that are in two zones', async () => {
  world.storage.bound('a', { ...csi, ...onNodes(inZone('1a')) });
  world.storage.bound('b', { ...csi, ...onNodes(inZone('1b')) });
  world.startWithDriver();
  world.seedPod('stateful', {}, { spec: mounts('a', 'b') });
  await world.clock.forward(window);
  expect(world.claims).toEqual([]);
  expect(world.toldOf('stateful')[0]).toContain(
    'its volume claims "a", "b" cannot be had on one node',
  );
});

describe('K22: a volume on the disk of a node', () => {
  const ofHost = {
    local: { path: '/mnt' },
    ...onNodes([{ key: labels.hostname, operator: 'In', values: ['gone'] }, ...inZone('1b')]),
  };

  test('is sought in its zone, whatever the name of its host', async () => {
    world.storage.bound('data', ofHost);
    world.seedNodeOfOthers('there', '1b');
    world.startWithDriver();
    world.seedPod('stateful', {}, { spec: mounts('data') });
    await world.clock.forward(window);
    expect(world.claims).toEqual([]);
    expect(world.notesOf('Nominated')).toMatchObject([{ message: 'there has room for this Pod' }]);
  });

  test('is mounted by no machine of ours, which is told', async () => {
    world.storage.bound('data', ofHost);
    world.startWithDriver();
    world.seedPod('stateful', {}, { spec: mounts('data') });
    await world.clock.forward(window);
    expect(world.claims).toEqual([]);
    expect(world.toldOf('stateful')[0]).toContain('a volume of kubernetes.io/local-volume');
  });
});

test('a controller that may not read claims serves all other Pods, and says so to these', async () => {
  world.caches.persistentVolumeClaims.isForbidden = true;
  world.startWithDriver();
  world.seedPod('stateful', {}, { spec: mounts('data') });
  world.seedPod('plain');
  await world.clock.forward(window);
  expect(world.claims).toHaveLength(1);
  expect(world.toldOf('stateful')[0]).toContain('may not read persistentvolumeclaims');
  expect(world.toldOf('stateful')[0]).toContain('(KPU355)');

  world.caches.persistentVolumeClaims.isForbidden = false;
  await world.clock.forward(seconds(12)); // nothing is told of that, so it is seen in the next look
  expect(world.toldOf('stateful')[0]).toBeDefined();
  world.client.remove(pods, { namespace: 'shop', name: 'plain' });
  world.storage.storageClass('fast');
  world.storage.claim('data', 'fast');
  await world.clock.forward(window);
  expect(world.claims).toHaveLength(2);
});
