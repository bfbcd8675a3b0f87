import type { Pod } from '#schemas/kubernetes/core.ts';

/** An ordinary Pod of a Deployment: about 5 kB in a review, with sidecar, volumes and probes. */
export function podOf(namespace: string, optsIn: boolean): Pod {
  const labels = {
    'app.kubernetes.io/name': 'web',
    'app.kubernetes.io/part-of': 'shop',
    'pod-template-hash': '7d9c6b5f4',
    ...(optsIn && { 'karpenter.unikraft.com/inject': 'true' }),
  };
  const env = Array.from({ length: 20 }, (_, index) => ({
    name: `SETTING_${index}`,
    value: `a value of some length for setting number ${index}`,
  }));
  const [kind, apiVersion, uid] = ['ReplicaSet', 'apps/v1', '705ab4f5-6393-11e8-b7cc-42010a800002'];
  const ownerReferences = [{ kind, apiVersion, uid, name: 'web-7d9c6b5f4', controller: true }];
  const resources = { requests: { cpu: '250m', memory: '256Mi' }, limits: { memory: '256Mi' } };
  const container = (name: string) => ({
    name,
    image: `registry.example.com/shop/${name}:1.42.7`,
    args: ['--listen', ':8080', '--log-level', 'info'],
    env,
    resources,
    ports: [{ containerPort: 8080 }],
  });
  return {
    metadata: { generateName: 'web-7d9c6b5f4-', namespace, labels, ownerReferences },
    spec: { containers: ['web', 'sidecar'].map(container), automountServiceAccountToken: false },
  } as unknown as Pod;
}

/** The bytes of a call with a review of a Pod, as the API server sends it on a connection that stays. */
export function callWith(path: string, optsIn: boolean): Buffer {
  const namespace = 'bench';
  const request = {
    uid: '705ab4f5-6393-11e8-b7cc-42010a800002',
    kind: { group: '', version: 'v1', kind: 'Pod' },
    resource: { group: '', version: 'v1', resource: 'pods' },
    requestKind: { group: '', version: 'v1', kind: 'Pod' },
    requestResource: { group: '', version: 'v1', resource: 'pods' },
    namespace,
    operation: 'CREATE',
    userInfo: { username: 'system:serviceaccount:kube-system:replicaset-controller' },
    object: { apiVersion: 'v1', kind: 'Pod', ...podOf(namespace, optsIn) },
    oldObject: null,
    dryRun: false,
  };
  const body = JSON.stringify({
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request,
  });
  const head = [
    `POST ${path}?timeout=2s HTTP/1.1`,
    'Host: localhost',
    'User-Agent: kube-apiserver-admission',
    'Accept: application/json, */*',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`);
}
