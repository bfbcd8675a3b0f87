/** A Pod that has every field that is kept, with the values at which encodings differ: 0, false, negative, empty. */
import type { Pod } from '#schemas/kubernetes/core.ts';
import type { KubeObject } from '#schemas/kubernetes/meta.ts';

export const priorityClass: KubeObject & { value: number } = {
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  metadata: { name: 'below' },
  value: -5,
};

export const runtimeClass: KubeObject & { handler: string; overhead: object } = {
  apiVersion: 'node.k8s.io/v1',
  kind: 'RuntimeClass',
  metadata: { name: 'micro' },
  handler: 'micro',
  overhead: { podFixed: { cpu: '250m', memory: '32Mi' } },
};

const selector = {
  matchLabels: { app: 'web', 'empty.example.com/label': '' },
  matchExpressions: [
    { key: 'tier', operator: 'In', values: ['a', 'b'] },
    { key: 'old', operator: 'DoesNotExist' },
  ],
} as const;
const podTerm = {
  topologyKey: 'topology.kubernetes.io/zone',
  labelSelector: selector,
  namespaces: ['one', 'two'],
  namespaceSelector: {},
  mismatchLabelKeys: ['pod-template-hash'],
};
const nodeTerm = {
  matchExpressions: [{ key: 'cpus', operator: 'Gt', values: ['3'] }],
  matchFields: [{ key: 'metadata.name', operator: 'NotIn', values: ['this'] }],
};

const spec = {
  priorityClassName: 'below',
  runtimeClassName: 'micro',
  preemptionPolicy: 'PreemptLowerPriority',
  schedulerName: 'nobody',
  terminationGracePeriodSeconds: 0,
  hostNetwork: false,
  restartPolicy: 'Always',
  os: { name: 'linux' },
  nodeSelector: { 'kubernetes.io/os': 'linux', 'empty.example.com/node': '' },
  schedulingGates: [{ name: 'example.com/held' }],
  resources: { requests: { cpu: '3', memory: '2Gi' }, limits: { cpu: '4' } },
  resourceClaims: [{ name: 'gpu', resourceClaimName: 'gpu-1' }],
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [nodeTerm] },
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 7, preference: { matchExpressions: nodeTerm.matchExpressions } },
      ],
    },
    podAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [podTerm],
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: podTerm }],
    },
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: 'kubernetes.io/hostname', labelSelector: {} },
      ],
    },
  },
  tolerations: [
    { key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 0 },
    { key: 'b', operator: 'Equal', value: 'c', effect: 'NoExecute', tolerationSeconds: -3 },
    { operator: 'Exists' },
  ],
  topologySpreadConstraints: [
    {
      maxSkew: 2,
      topologyKey: 'topology.kubernetes.io/zone',
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: selector,
      minDomains: 3,
      nodeAffinityPolicy: 'Ignore',
      nodeTaintsPolicy: 'Honor',
      matchLabelKeys: ['pod-template-hash'],
    },
  ],
  initContainers: [
    { name: 'first', image: 'first', resources: { requests: { cpu: '100m' } } },
    { name: 'sidecar', image: 'sidecar', restartPolicy: 'Always' },
  ],
  containers: [
    {
      name: 'web',
      image: 'web',
      env: [{ name: 'A', value: 'b' }],
      ports: [
        { name: 'on-host', containerPort: 8080, hostPort: 18_080, hostIP: '127.0.0.1' },
        { name: 'inside', containerPort: 9090 },
      ],
      resources: { requests: { cpu: '500m', memory: '64Mi' }, limits: { memory: '0.5Gi' } },
    },
    { name: 'plain', image: 'plain' },
  ],
  volumes: [
    { name: 'tmp', emptyDir: {} },
    { name: 'data', persistentVolumeClaim: { claimName: 'data-0', readOnly: true } },
    {
      name: 'scratch',
      ephemeral: {
        volumeClaimTemplate: {
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        },
      },
    },
    { name: 'inline', csi: { driver: 'csi.example.com', readOnly: false } },
    { name: 'aws', awsElasticBlockStore: { volumeID: 'v', fsType: 'ext4', partition: 1 } },
    { name: 'gce', gcePersistentDisk: { pdName: 'v', fsType: 'ext4' } },
    { name: 'azure-disk', azureDisk: { diskName: 'v', diskURI: 'https://disk' } },
    { name: 'azure-file', azureFile: { shareName: 'v', secretName: 'key' } },
    { name: 'cinder', cinder: { volumeID: 'v' } },
    { name: 'vsphere', vsphereVolume: { volumePath: 'v', fsType: 'ext4' } },
    { name: 'portworx', portworxVolume: { volumeID: 'v', fsType: 'ext4' } },
  ],
};

export const everything = {
  metadata: {
    namespace: 'default',
    name: 'everything',
    labels: { app: 'web', 'empty.example.com/label': '' },
    annotations: { 'karpenter.sh/do-not-disrupt': 'true', 'example.com/long': 'x'.repeat(300) },
    finalizers: ['example.com/one', 'example.com/two'],
    ownerReferences: [
      { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: '1', controller: false },
    ],
  },
  spec,
} as unknown as Pod;

const running = { name: 'web', ready: true, restartCount: 3, image: 'web', imageID: 'sha256:1' };

export const statusOfEverything = {
  status: {
    phase: 'Pending',
    reason: 'Grüße 🚀',
    message: 'a message that nobody reads',
    nominatedNodeName: 'node-1',
    startTime: '2026-11-30T08:00:00Z',
    conditions: [
      { type: 'Ready', status: 'False', lastTransitionTime: '2026-11-30T08:00:01Z' },
      {
        type: 'PodScheduled',
        status: 'False',
        reason: 'Unschedulable',
        message: '0/3 nodes are available',
        lastTransitionTime: '2026-11-30T08:00:02Z',
      },
      { type: 'PodResizePending', status: 'True', reason: 'Infeasible' },
    ],
    containerStatuses: [
      {
        ...running,
        state: { running: { startedAt: '2026-11-30T08:00:03Z' } },
        resources: { requests: { cpu: '500m' }, limits: { memory: '512Mi' } },
        allocatedResources: { cpu: '500m' },
      },
      {
        ...running,
        name: 'plain',
        state: { waiting: { reason: 'ImagePullBackOff', message: 'no such image' } },
      },
    ],
    initContainerStatuses: [
      { ...running, name: 'first', state: { terminated: { exitCode: 0, reason: 'Completed' } } },
    ],
  },
};
