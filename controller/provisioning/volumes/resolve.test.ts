import { beforeEach, describe, expect, test } from 'vitest';

import type { Pod, PodSpec } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { pods } from '#schemas/kubernetes/resource.ts';
import { labels } from '#schemas/names.ts';

import { memoryContext } from '../../testing/context.ts';
import { resolve } from './resolve.ts';
import type { Storage } from './storage.ts';
import { csi, ebs, inZone, mounts, onNodes, StorageWorld } from './testing/storage.ts';

let given: ReturnType<typeof memoryContext>;
let storage: StorageWorld;
beforeEach(() => {
  given = memoryContext();
  storage = new StorageWorld(given.client);
});

/** Of a Pod `p`, by what the caches have. */
function resolved(spec: object, forbidden: readonly string[] = []) {
  const { caches, client } = given;
  const known: Storage = {
    claim: (key) => caches.persistentVolumeClaims.get(key),
    volume: (name) => caches.persistentVolumes.get(name),
    storageClass: (name) => caches.storageClasses.get(name),
    forbidden,
  };
  const pod: Live<Pod> = client.seed(pods, {
    metadata: { namespace: 'shop', name: 'p' },
    spec: { containers: [], ...spec } as PodSpec,
  });
  return resolve(caches.pods.get('shop/p') ?? pod, known);
}

const troubleOf = (spec: object) => resolved(spec)?.volumes.trouble?.message;

test('a Pod without storage has no volumes', () => {
  expect(resolved({})).toBeUndefined();
  expect(resolved({ volumes: [{ name: 'tmp', emptyDir: {} }] })).toBeUndefined();
});

test('all that is known of a bound claim is told, with what it rests on', () => {
  storage.bound('data', { ...csi, ...onNodes(inZone('1b')) });
  expect(resolved(mounts('data', 'data'))).toEqual({
    volumes: { nodes: [inZone('1b')], attached: { [ebs]: ['shop/data'] }, drivers: [ebs] },
    asked: ['claim shop/data', 'volume pv-data', 'claim shop/data', 'volume pv-data'],
  });
});

test('several volumes are had where all of them are', () => {
  storage.bound('a', { ...csi, ...onNodes(inZone('1a', '1b')) });
  storage.bound('b', { ...csi, ...onNodes(inZone('1c'), inZone('1b')) });
  storage.bound('anywhere', { nfs: {} });
  const { nodes, drivers } = resolved(mounts('a', 'b', 'anywhere'))!.volumes;
  expect(nodes).toEqual([inZone('1b')]);
  expect(drivers).toEqual([ebs, 'kubernetes.io/nfs']);
});

test('zone and region on a volume are where it is, by their old names and with several values too', () => {
  storage.bound('data', csi, {
    volumeLabels: {
      'failure-domain.beta.kubernetes.io/zone': '1a__1b',
      [labels.region]: 'eu-1',
      app: 'db',
    },
  });
  const { nodes } = resolved(mounts('data'))!.volumes;
  expect(nodes).toEqual([
    [{ key: labels.region, operator: 'In', values: ['eu-1'] }, ...inZone('1a', '1b')],
  ]);
});

describe('a host name', () => {
  const ofHost = onNodes([{ key: labels.hostname, operator: 'In', values: ['there'] }]);

  test.each(['local', 'hostPath'])('of a volume on a disk there is passed over: %s', (kind) => {
    storage.bound('data', { [kind]: { path: '/mnt' }, ...ofHost });
    expect(resolved(mounts('data'))?.volumes).toMatchObject({ nodes: [] });
    expect(troubleOf(mounts('data'))).toBeUndefined();
  });

  test('of any other volume counts', () => {
    storage.bound('data', { ...csi, ...ofHost });
    expect(resolved(mounts('data'))?.volumes.nodes).toHaveLength(1);
  });
});

describe('storage that was built into Kubernetes', () => {
  const sources: [string, object, string, string][] = [
    ['awsElasticBlockStore', { volumeID: 'v' }, 'kubernetes.io/aws-ebs', ebs],
    ['gcePersistentDisk', { pdName: 'v' }, 'kubernetes.io/gce-pd', 'pd.csi.storage.gke.io'],
    ['azureDisk', { diskURI: 'v' }, 'kubernetes.io/azure-disk', 'disk.csi.azure.com'],
    ['azureFile', { shareName: 'v' }, 'kubernetes.io/azure-file', 'file.csi.azure.com'],
    ['cinder', { volumeID: 'v' }, 'kubernetes.io/cinder', 'cinder.csi.openstack.org'],
    [
      'vsphereVolume',
      { volumePath: 'v' },
      'kubernetes.io/vsphere-volume',
      'csi.vsphere.vmware.com',
    ],
    ['portworxVolume', { volumeID: 'v' }, 'kubernetes.io/portworx-volume', 'pxd.portworx.com'],
  ];

  test.each(sources)('is its driver’s: %s', (field, source, inTree, driver) => {
    storage.bound('bound', { [field]: source });
    storage.storageClass('old', { provisioner: inTree });
    storage.claim('unbound', 'old');
    const volumes = [...mounts('bound', 'unbound').volumes, { name: 'own', [field]: source }];
    const found = resolved({ volumes })!.volumes;
    expect(found.drivers).toEqual([driver]);
    expect(found.attached).toEqual({ [driver]: ['v', 'shop/bound', 'shop/unbound'] });
  });

  test.each([
    ['local', 'kubernetes.io/local-volume'],
    ['nfs', 'kubernetes.io/nfs'],
    ['flexVolume', 'kubernetes.io/in-tree'],
  ])('and has no driver is told apart from all that have: %s', (field, name) => {
    storage.bound('data', { [field]: { path: '/' } });
    expect(resolved(mounts('data'))?.volumes.drivers).toEqual([name]);
  });
});

test('a volume that a driver makes for the Pod alone must be mounted, and is counted by nobody', () => {
  const volumes = [{ name: 'secrets', csi: { driver: 'secrets-store.csi.k8s.io' } }];
  expect(resolved({ volumes })?.volumes).toEqual({
    nodes: [],
    attached: {},
    drivers: ['secrets-store.csi.k8s.io'],
  });
});

describe('what is wrong is told', () => {
  test('of an ephemeral volume whose claim is another’s', () => {
    storage.storageClass('fast');
    storage.claim('p-scratch', 'fast');
    expect(troubleOf({ volumes: [{ name: 'scratch', ephemeral: {} }] })).toContain(
      'its volume claim "p-scratch" is not this Pod\'s own',
    );
  });

  test('of a claim that names its volume and is not bound to it', () => {
    storage.bound('data', csi);
    storage.claim('data', 'fast', { spec: { volumeName: 'pv-data' } });
    expect(troubleOf(mounts('data'))).toContain('is not bound to PersistentVolume pv-data yet');
  });

  test('of Kraftlet’s own class, whether or not there is a class of that name', () => {
    storage.storageClass('ukc-volume');
    storage.claim('data', 'ukc-volume');
    expect(troubleOf(mounts('data'))).toContain('which no machine makes volumes of');
  });

  test('of the first claim that has something', () => {
    storage.storageClass('fast');
    storage.claim('fine', 'fast');
    expect(troubleOf(mounts('fine', 'one', 'two'))).toContain('"one" does not exist');
  });

  test('of a class that allows no place', () => {
    given.client.seed(
      { ...given.caches.storageClasses.resource },
      {
        metadata: { name: 'odd' },
        provisioner: ebs,
        volumeBindingMode: 'WaitForFirstConsumer',
        allowedTopologies: [{}],
      },
    );
    storage.claim('data', 'odd');
    expect(troubleOf(mounts('data'))).toContain('can be had on no node');
  });

  test('where nothing may be read, of claims alone', () => {
    const volumes = [{ name: 'own', awsElasticBlockStore: { volumeID: 'v' } }];
    expect(resolved({ volumes }, ['storageclasses'])?.volumes.trouble).toBeUndefined();
    expect(resolved(mounts('data'), ['storageclasses'])?.volumes.trouble).toMatchObject({
      message: expect.stringContaining('may not read storageclasses'),
      code: 'KPU355',
    });
  });
});
