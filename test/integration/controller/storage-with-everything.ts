/** Claims, volumes, classes and CSINodes with all that can be said in them. */
import type { KubeObject } from '#schemas/kubernetes/meta.ts';

const named = (name: string) => ({
  name,
  labels: { 'topology.kubernetes.io/zone': '1a', app: 'db' },
  annotations: { 'pv.kubernetes.io/bind-completed': 'yes', 'example.com/long': 'x'.repeat(300) },
  finalizers: ['example.com/one'],
  ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: '1', controller: true }],
});

const inZone = { key: 'topology.kubernetes.io/zone', operator: 'In', values: ['1a', '1b'] };
const labelled = { key: 'rack', operator: 'Exists' };

const volume = (name: string, source: object) => ({
  metadata: named(name),
  spec: {
    ...source,
    capacity: { storage: '1Gi' },
    accessModes: ['ReadWriteOnce', 'ReadOnlyMany'],
    persistentVolumeReclaimPolicy: 'Retain',
    storageClassName: 'fast',
    mountOptions: ['noatime'],
    volumeMode: 'Filesystem',
    nodeAffinity: {
      required: {
        nodeSelectorTerms: [
          { matchExpressions: [inZone, labelled] },
          { matchExpressions: [inZone] },
        ],
      },
    },
  },
});

const claim: KubeObject & { spec: object } = {
  metadata: { ...named('everything'), namespace: 'default' },
  spec: {
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: '1Gi' } },
    volumeName: 'csi',
    storageClassName: 'fast',
    volumeMode: 'Filesystem',
    selector: { matchLabels: { app: 'db' } },
  },
};

const secret = { name: 'key', namespace: 'default' };

const volumes = [
  volume('csi', {
    csi: {
      driver: 'disk.example.com',
      volumeHandle: 'vol-1',
      readOnly: true,
      fsType: 'ext4',
      volumeAttributes: { a: 'b' },
      nodeStageSecretRef: secret,
    },
  }),
  volume('aws', { awsElasticBlockStore: { volumeID: 'v', fsType: 'ext4', partition: 1 } }),
  volume('gce', { gcePersistentDisk: { pdName: 'v' } }),
  volume('azure-disk', { azureDisk: { diskName: 'v', diskURI: 'https://disk' } }),
  volume('azure-file', {
    azureFile: { shareName: 'v', secretName: 'key', secretNamespace: 'default' },
  }),
  volume('cinder', { cinder: { volumeID: 'v' } }),
  volume('vsphere', { vsphereVolume: { volumePath: 'v' } }),
  volume('portworx', { portworxVolume: { volumeID: 'v' } }),
  volume('nfs', { nfs: { server: 'nfs.example.com', path: '/' } }),
  volume('iscsi', {
    iscsi: { targetPortal: '10.0.0.1', iqn: 'iqn.2001-04.com.example:a', lun: 0 },
  }),
  volume('fc', { fc: { targetWWNs: ['50060e801049cfd1'], lun: 0 } }),
  volume('folder', { hostPath: { path: '/mnt' } }),
  volume('disk', { local: { path: '/mnt' } }),
];

const storageClass = {
  metadata: named('fast'),
  provisioner: 'disk.example.com',
  parameters: { type: 'ssd' },
  reclaimPolicy: 'Delete',
  mountOptions: ['noatime'],
  allowVolumeExpansion: true,
  volumeBindingMode: 'WaitForFirstConsumer',
  allowedTopologies: [
    { matchLabelExpressions: [{ key: 'topology.kubernetes.io/zone', values: ['1a', '1b'] }] },
  ],
};

const csiNode = {
  metadata: named('node'),
  spec: {
    drivers: [
      { name: 'a', nodeID: 'n', topologyKeys: ['zone'], allocatable: { count: 25 } },
      { name: 'none', nodeID: 'n', topologyKeys: null, allocatable: { count: 0 } },
      { name: 'any', nodeID: 'n', topologyKeys: [] },
    ],
  },
};

export const storageWithEverything = {
  claims: [claim],
  volumes,
  classes: [storageClass],
  csiNodes: [csiNode],
};
