/** Pods as an API server with ordinary workloads has them: about 4 kB of JSON each, in the server's order of fields. */

/** How much Pods have in common: those of one Deployment differ in names, nodes and times, or in all that they ask for. */
export const mixes = ['fifty-alike', 'all-different'] as const;
export type Mix = (typeof mixes)[number];

const nodes = 400;
const namespaces = 20;
const perDeployment = 50;
const created = Date.parse('2026-11-30T08:00:00Z');

/** @param index from 0; the same index gives the same Pod @returns it without apiVersion and kind, as in lists */
export function podOf(index: number, mix: Mix): object {
  return { metadata: metadataOf(index, mix), spec: specOf(index, mix), status: statusOf(index) };
}

/** Whose Pod it is; where all differ each has an owner of its own. */
function ownerOf(index: number, mix: Mix): number {
  return mix === 'fifty-alike' ? Math.floor(index / perDeployment) : index;
}

function metadataOf(index: number, mix: Mix): object {
  const owner = ownerOf(index, mix);
  const replicaSet = `service-${owner}-${hex(owner, 10)}`;
  const app = `service-${owner}`;
  return {
    name: `${replicaSet}-${hex(index, 5)}`,
    generateName: `${replicaSet}-`,
    namespace: `team-${owner % namespaces}`,
    uid: uidOf(index),
    resourceVersion: String(1_000_000 + index * 7),
    generation: 1,
    creationTimestamp: stamp(index, 0),
    labels: {
      'app.kubernetes.io/name': app,
      'app.kubernetes.io/instance': `${app}-production`,
      'app.kubernetes.io/version': `2.${owner % 40}.1`,
      'app.kubernetes.io/part-of': `suite-${owner % namespaces}`,
      'pod-template-hash': hex(owner, 10),
    },
    annotations: {
      'kubectl.kubernetes.io/restartedAt': '2026-11-28T10:21:09+01:00',
      'prometheus.io/port': '9090',
      'prometheus.io/scrape': 'true',
    },
    ownerReferences: [
      {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        name: replicaSet,
        uid: uidOf(owner + 5_000_000),
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
    managedFields: managedFields(index, uidOf(owner + 5_000_000)),
  };
}

function specOf(index: number, mix: Mix): object {
  const owner = ownerOf(index, mix);
  const token = `kube-api-access-${hex(index + 77, 5)}`;
  return {
    volumes: [tokenVolume(token), { name: 'tmp', emptyDir: {} }],
    containers: [container(owner, token)],
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    serviceAccountName: `service-${owner}`,
    serviceAccount: `service-${owner}`,
    nodeName: `node-${String(index % nodes).padStart(3, '0')}.compute.internal`,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    schedulerName: 'default-scheduler',
    tolerations: ['not-ready', 'unreachable'].map((condition) => ({
      key: `node.kubernetes.io/${condition}`,
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: 300,
    })),
    priority: 0,
    enableServiceLinks: true,
    preemptionPolicy: 'PreemptLowerPriority',
  };
}

function container(owner: number, token: string): object {
  const probe = { httpGet: { path: '/healthz', port: 'http', scheme: 'HTTP' }, timeoutSeconds: 1 };
  return {
    name: 'server',
    image: `registry.example.com/suite/service-${owner}:2.${owner % 40}.1`,
    ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
    env: [
      { name: 'LOG_LEVEL', value: 'info' },
      { name: 'DATABASE_URL', value: `postgres://db-${owner}.data.svc.cluster.local:5432/main` },
      { name: 'POD_IP', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'status.podIP' } } },
    ],
    resources: resourcesOf(owner),
    volumeMounts: [
      { name: 'tmp', mountPath: '/tmp' },
      { name: token, readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' },
    ],
    readinessProbe: { ...probe, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 },
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: 'IfNotPresent',
    securityContext: { capabilities: { drop: ['ALL'] }, allowPrivilegeEscalation: false },
  };
}

function resourcesOf(owner: number): object {
  const memory = `${64 + owner}Mi`;
  return { limits: { memory }, requests: { cpu: `${50 + (owner % 900)}m`, memory } };
}

function tokenVolume(name: string): object {
  const ca = { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] };
  const fieldRef = { apiVersion: 'v1', fieldPath: 'metadata.namespace' };
  const sources = [
    { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
    { configMap: ca },
    { downwardAPI: { items: [{ path: 'namespace', fieldRef }] } },
  ];
  return { name, projected: { sources, defaultMode: 420 } };
}

function statusOf(index: number): object {
  const ip = `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;
  const host = `192.168.${(index % nodes) >> 8}.${(index % nodes) & 255}`;
  const image = `registry.example.com/suite/service:2.${index % 40}.1`;
  const types = ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady'];
  return {
    phase: 'Running',
    conditions: [...types, 'PodScheduled'].map((type) => ({
      type,
      status: 'True',
      lastProbeTime: null,
      lastTransitionTime: stamp(index, type === 'PodScheduled' ? 0 : 4),
    })),
    hostIP: host,
    hostIPs: [{ ip: host }],
    podIP: ip,
    podIPs: [{ ip }],
    startTime: stamp(index, 0),
    containerStatuses: [
      {
        name: 'server',
        state: { running: { startedAt: stamp(index, 3) } },
        lastState: {},
        ready: true,
        restartCount: 0,
        image,
        imageID: `registry.example.com/suite/service@sha256:${hex(index % 40, 64)}`,
        containerID: `containerd://${hex(index, 64)}`,
        started: true,
      },
    ],
    qosClass: 'Burstable',
  };
}

function managedFields(index: number, owner: string): object[] {
  const leaf = {};
  const container = { '.': leaf, 'f:env': leaf, 'f:image': leaf, 'f:name': leaf, 'f:ports': leaf };
  const entry = { operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1' };
  const condition = { '.': leaf, 'f:lastProbeTime': leaf, 'f:lastTransitionTime': leaf };
  return [
    {
      manager: 'kube-controller-manager',
      ...entry,
      time: stamp(index, 0),
      fieldsV1: {
        'f:metadata': {
          'f:generateName': leaf,
          'f:labels': { '.': leaf, 'f:app.kubernetes.io/name': leaf, 'f:pod-template-hash': leaf },
          'f:ownerReferences': { '.': leaf, [`k:{"uid":"${owner}"}`]: leaf },
        },
        'f:spec': { 'f:containers': { 'k:{"name":"server"}': container }, 'f:restartPolicy': leaf },
      },
    },
    {
      manager: 'kubelet',
      ...entry,
      time: stamp(index, 4),
      fieldsV1: {
        'f:status': {
          'f:conditions': {
            'k:{"type":"ContainersReady"}': condition,
            'k:{"type":"Initialized"}': condition,
          },
          'f:containerStatuses': leaf,
          'f:hostIP': leaf,
          'f:phase': leaf,
          'f:podIP': leaf,
          'f:startTime': leaf,
        },
      },
      subresource: 'status',
    },
  ];
}

/** A Pod is created each second. */
function stamp(index: number, later: number): string {
  return new Date(created + (index + later) * 1000).toISOString().replace('.000Z', 'Z');
}

function uidOf(index: number): string {
  return `${hex(index, 8)}-${hex(index + 1, 4)}-4${hex(index, 3)}-8${hex(index, 3)}-${hex(index, 12)}`;
}

/** Digits that look random and are the same each time; different for different numbers from eight digits on. */
function hex(index: number, digits: number): string {
  const mixed = Math.imul(index + 1, 0x9e3779b1) >>> 0; // odd, so no two numbers below 2^32 meet
  const word = mixed.toString(16).padStart(8, '0');
  return word.repeat(Math.ceil(digits / 8)).slice(0, digits);
}
