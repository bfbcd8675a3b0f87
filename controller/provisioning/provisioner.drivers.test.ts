/** By whom volumes are mounted, and how many. Numbers are those of docs/reference/karpenter-behaviour.md. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { controllerRevisions } from '#schemas/kubernetes/resource.ts';
import { annotations } from '#schemas/names.ts';
import { unikraftNodeClasses, type UnikraftNodeClass } from '#schemas/nodeclass/types.ts';
import { seconds } from '#schemas/time/clock.ts';

import { resolvedWith } from './testing/world.ts';
import { csi, ebs, inZone, mounts, onNodes } from './volumes/testing/storage.ts';
import { VolumeWorld } from './volumes/testing/volume-world.ts';

const window = seconds(2);
let world: VolumeWorld;
beforeEach(() => {
  world = new VolumeWorld();
  world.seedPool('web');
});
afterEach(() => world.end());

describe('K35: a node takes as many volumes as its driver attaches', () => {
  beforeEach(() => {
    world.seedNodeOfOthers('there');
    for (const name of ['one', 'two'])
      world.storage.bound(name, { ...csi, ...onNodes(inZone('1a')) });
    world.seedPod('there-already', {}, { spec: { ...mounts('one'), nodeName: 'there' } });
    world.seedPod('stateful', {}, { spec: mounts('two') });
  });

  test.each([
    ['one that has all it attaches takes no more', { [ebs]: 1 }, 1],
    ['one that attaches another does', { [ebs]: 2 }, 0],
    ['one without a number attaches any', { [ebs]: null }, 0],
    ['numbers of other drivers say nothing', { 'efs.csi.aws.com': 0 }, 0],
  ])('%s', async (_, counts, machines) => {
    world.storage.csiNode('there', counts);
    world.startWithDriver();
    await world.clock.forward(window);
    expect(world.claims).toHaveLength(machines);
  });

  test('more of them wake planning', async () => {
    world.storage.csiNode('there', { [ebs]: 1 });
    world.start(); // machines of ours mount none
    await world.clock.forward(window);
    expect(world.notesOf('Nominated')).toEqual([]);

    world.storage.csiNode('there', { [ebs]: 2 });
    await world.clock.forward(window);

    expect(world.notesOf('Nominated')).toHaveLength(1);
  });
});

describe('K36: storage that was built into Kubernetes counts as that of its driver', () => {
  test.each([
    [
      'in a volume',
      () => world.storage.bound('data', { awsElasticBlockStore: { volumeID: 'vol-1' } }),
    ],
    [
      'in a class',
      () => {
        world.storage.storageClass('fast', { provisioner: 'kubernetes.io/aws-ebs' });
        world.storage.claim('data', 'fast');
      },
    ],
  ])('%s', async (_, seed) => {
    seed();
    world.seedNodeOfOthers('there');
    world.storage.csiNode('there', { [ebs]: 0 });
    world.startWithDriver();
    world.seedPod('stateful', {}, { spec: mounts('data') });
    await world.clock.forward(window);
    expect(world.claims).toHaveLength(1); // the driver is registered, and the node is full
  });

  test('in a Pod', async () => {
    world.seedNodeOfOthers('there');
    world.storage.csiNode('there', { [ebs]: 1 });
    world.start();
    const volumes = [{ name: 'data', awsElasticBlockStore: { volumeID: 'vol-1' } }];
    world.seedPod('there-already', {}, { spec: { volumes, nodeName: 'there' } });
    world.seedPod('same', {}, { spec: { volumes } });
    const more = [{ name: 'data', awsElasticBlockStore: { volumeID: 'vol-2' } }];
    world.seedPod('other', {}, { spec: { volumes: more } });
    await world.clock.forward(window);
    expect(world.notesOf('Nominated').map(({ object }) => object.metadata?.name)).toEqual(['same']);
    expect(world.toldOf('other')[0]).toContain(`a volume of the CSI driver ${ebs}`);
  });
});

describe('machines of ours mount volumes of the drivers that their Kraftlet is told of', () => {
  beforeEach(() => world.storage.bound('data', { ...csi, ...onNodes(inZone('1b')) }));

  test('of no other: what to set is told', async () => {
    world.start();
    world.seedPod('stateful', {}, { spec: mounts('data') });
    await world.clock.forward(window);
    expect(world.claims).toEqual([]);
    expect(world.toldOf('stateful')[0]).toContain(
      `machines of UnikraftNodeClass default do not mount; register it there: spec.kraftlet.values.csi.plugins["${ebs}"] (KPU354)`,
    );
  });

  test('Nodes of others are not asked for theirs', async () => {
    world.start();
    world.seedNodeOfOthers('there', '1b');
    world.seedPod('stateful', {}, { spec: mounts('data') });
    await world.clock.forward(window);
    expect(world.notesOf('Nominated')).toMatchObject([{ message: 'there has room for this Pod' }]);
  });

  test('volumes of class ukc-volume are on none', async () => {
    world.storage.bound('kept', csi, { storageClassName: 'ukc-volume' });
    world.startWithDriver();
    world.seedPod('stateful', {}, { spec: mounts('kept') });
    await world.clock.forward(window);
    expect(world.claims).toEqual([]);
    expect(world.toldOf('stateful')[0]).toContain('would live and die with its machine');
  });

  describe('a machine on its way takes a Pod', () => {
    const stored = (name: string, values: object) =>
      world.client.seed(controllerRevisions, {
        metadata: { namespace: world.context.namespace, name },
        revision: 1,
        data: { ...resolvedWith(values), image: {}, subnets: [], securityGroups: [] },
      });
    const plugins = { csi: { plugins: { [ebs]: 'csi.storage.svc:9000' } } };

    test.each([
      ['if its revision has the driver', 'default-1', plugins, 1],
      ['not if only the newest has it', 'default-0', {}, 2],
      ['if it has no revision yet, by the newest', undefined, plugins, 1],
    ])('%s', async (_, revision, values, machines) => {
      stored(revision ?? 'default-1', values);
      world.client.seed(unikraftNodeClasses, {
        metadata: { name: 'default' },
        status: { currentRevision: 'default-1' },
      } as UnikraftNodeClass);
      world.storage.bound('anywhere', csi);
      const first = world.startWithDriver();
      world.seedPod('plain', { cpu: '1' });
      await world.clock.forward(window);
      const [claim] = world.claims;
      const { metadata } = claim!;
      const stamped = revision === undefined ? {} : { [annotations.revision]: revision };
      const own = { ...metadata.annotations, ...stamped };
      world.becomes({ ...claim!, metadata: { ...metadata, annotations: own } }, 'Launched');
      first.kill();
      world.startWithDriver();
      world.seedPod('stateful', { cpu: '100m' }, { spec: mounts('anywhere') });
      await world.clock.forward(window);
      expect(world.claims).toHaveLength(machines);
    });
  });
});

test('a driver named like a property of each object is a driver', async () => {
  world.storage.storageClass('constructor', { provisioner: 'constructor' });
  world.storage.claim('constructor', 'constructor');
  world.seedNodeOfOthers('there');
  world.storage.csiNode('there', { constructor: 1 });
  world.start();
  world.seedPod('stateful', {}, { spec: mounts('constructor') });
  await world.clock.forward(window);
  expect(world.notesOf('Nominated')).toHaveLength(1);
});
