/** The fields of the Pods that are measured with, in protobuf. Source: k8s.io/api v0.37, core/v1/generated.proto. */
import type { Fields, Writing } from '#kube/testing/protobuf-writer.ts';

const texts: Writing = { map: 'text' };
const quantities: Writing = { map: 'quantity' };
const fieldsOf = (fields: Fields): Writing => ({ fields });
const listOf = (fields: Fields): Writing => ({ list: { fields } });

const metadata = fieldsOf({
  name: [1, 'text'],
  generateName: [2, 'text'],
  namespace: [3, 'text'],
  uid: [5, 'text'],
  resourceVersion: [6, 'text'],
  generation: [7, 'number'],
  creationTimestamp: [8, 'time'],
  labels: [11, texts],
  annotations: [12, texts],
  ownerReferences: [
    13,
    listOf({
      apiVersion: [5, 'text'],
      kind: [1, 'text'],
      name: [3, 'text'],
      uid: [4, 'text'],
      controller: [6, 'flag'],
      blockOwnerDeletion: [7, 'flag'],
    }),
  ],
  managedFields: [
    17,
    listOf({
      manager: [1, 'text'],
      operation: [2, 'text'],
      apiVersion: [3, 'text'],
      time: [4, 'time'],
      fieldsType: [6, 'text'],
      fieldsV1: [7, 'json'],
      subresource: [8, 'text'],
    }),
  ],
});

const fieldRef = fieldsOf({ apiVersion: [1, 'text'], fieldPath: [2, 'text'] });
const item = { key: [1, 'text'], path: [2, 'text'] } as const;
const source = fieldsOf({
  serviceAccountToken: [4, fieldsOf({ expirationSeconds: [2, 'number'], path: [3, 'text'] })],
  configMap: [3, fieldsOf({ name: [1, 1, 'text'], items: [2, listOf(item)] })],
  downwardAPI: [
    2,
    fieldsOf({ items: [1, listOf({ path: [1, 'text'], fieldRef: [2, fieldRef] })] }),
  ],
});
const volume: Fields = {
  name: [1, 'text'],
  emptyDir: [2, 2, fieldsOf({})],
  projected: [2, 26, fieldsOf({ sources: [1, { list: source }], defaultMode: [2, 'number'] })],
};

const probe = fieldsOf({
  httpGet: [1, 2, fieldsOf({ path: [1, 'text'], port: [2, 'name'], scheme: [4, 'text'] })],
  timeoutSeconds: [3, 'number'],
  periodSeconds: [4, 'number'],
  successThreshold: [5, 'number'],
  failureThreshold: [6, 'number'],
});
const container: Fields = {
  name: [1, 'text'],
  image: [2, 'text'],
  ports: [6, listOf({ name: [1, 'text'], containerPort: [3, 'number'], protocol: [4, 'text'] })],
  env: [
    7,
    listOf({
      name: [1, 'text'],
      value: [2, 'text'],
      valueFrom: [3, fieldsOf({ fieldRef: [1, fieldRef] })],
    }),
  ],
  resources: [8, fieldsOf({ limits: [1, quantities], requests: [2, quantities] })],
  volumeMounts: [9, listOf({ name: [1, 'text'], readOnly: [2, 'flag'], mountPath: [3, 'text'] })],
  readinessProbe: [11, probe],
  terminationMessagePath: [13, 'text'],
  imagePullPolicy: [14, 'text'],
  securityContext: [
    15,
    fieldsOf({
      capabilities: [1, fieldsOf({ drop: [2, { list: 'text' }] })],
      allowPrivilegeEscalation: [7, 'flag'],
    }),
  ],
  terminationMessagePolicy: [20, 'text'],
};

const spec = fieldsOf({
  volumes: [1, listOf(volume)],
  containers: [2, listOf(container)],
  restartPolicy: [3, 'text'],
  terminationGracePeriodSeconds: [4, 'number'],
  dnsPolicy: [6, 'text'],
  serviceAccountName: [8, 'text'],
  serviceAccount: [9, 'text'],
  nodeName: [10, 'text'],
  securityContext: [
    14,
    fieldsOf({ runAsNonRoot: [3, 'flag'], seccompProfile: [10, fieldsOf({ type: [1, 'text'] })] }),
  ],
  schedulerName: [19, 'text'],
  tolerations: [
    22,
    listOf({
      key: [1, 'text'],
      operator: [2, 'text'],
      effect: [4, 'text'],
      tolerationSeconds: [5, 'number'],
    }),
  ],
  priority: [25, 'number'],
  enableServiceLinks: [30, 'flag'],
  preemptionPolicy: [31, 'text'],
});

const address = listOf({ ip: [1, 'text'] });
const status = fieldsOf({
  phase: [1, 'text'],
  conditions: [
    2,
    listOf({
      type: [1, 'text'],
      status: [2, 'text'],
      lastProbeTime: [3, 'time'],
      lastTransitionTime: [4, 'time'],
    }),
  ],
  hostIP: [5, 'text'],
  podIP: [6, 'text'],
  startTime: [7, 'time'],
  containerStatuses: [
    8,
    listOf({
      name: [1, 'text'],
      state: [2, fieldsOf({ running: [2, fieldsOf({ startedAt: [1, 'time'] })] })],
      lastState: [3, fieldsOf({})],
      ready: [4, 'flag'],
      restartCount: [5, 'number'],
      image: [6, 'text'],
      imageID: [7, 'text'],
      containerID: [8, 'text'],
      started: [9, 'flag'],
    }),
  ],
  qosClass: [9, 'text'],
  podIPs: [12, address],
  hostIPs: [16, address],
});

export const podFields: Fields = { metadata: [1, metadata], spec: [2, spec], status: [3, status] };

/** What ends a streamed state. */
export const bookmarkFields: Fields = {
  metadata: [1, fieldsOf({ resourceVersion: [6, 'text'], annotations: [12, texts] })],
};
