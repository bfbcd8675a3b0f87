/** The same two readers before a real kube-apiserver, which has to write all Pods down first. */
import { join } from 'node:path';

import type { UndiciKubeClient } from '#kube/client/undici-client.ts';
import { ControlPlane } from '#sandbox/control-plane/control-plane.ts';
import type { Run } from '#sandbox/processes/run.ts';
import { ScreenProgress } from '#sandbox/tools/progress.ts';
import { ensureTools } from '#sandbox/tools/tools.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import type { KubeObject } from '#schemas/kubernetes/meta.ts';
import { namespaces, pods, resource } from '#schemas/kubernetes/resource.ts';
import type { Clock } from '#schemas/time/clock.ts';

import { podOf } from './pods.ts';
import { accountIn, type Target } from './processes.ts';

const bindings = resource<KubeObject & { roleRef: object; subjects: object[] }>(
  'rbac.authorization.k8s.io/v1',
  'ClusterRoleBinding',
  'clusterrolebindings',
  'Cluster',
);
/** Creates that are under way at a time. */
const width = 32;

/** A control plane with so many Pods that nobody places or removes, and the access of a reader to it. */
export async function startApiServer(
  run: Run,
  clock: Clock,
  { count, tell }: { readonly count: number; readonly tell: (line: string) => void },
): Promise<Target & { readonly stop: () => Promise<void> }> {
  const tools = await ensureTools(new ScreenProgress(process.stderr, clock));
  const plane = await ControlPlane.start({ tools, run, audit: false });
  const folder = await plane.serviceAccountDirectory('default', 'default');
  await plane.admin.create(bindings, {
    metadata: { name: 'reader' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    subjects: [{ kind: 'ServiceAccount', name: 'default', namespace: 'default' }],
  });
  await fill(plane.admin, count, tell);
  const root = join(run.dir, 'api-server');
  await accountIn(root, folder);
  return { port: plane.port, root, stop: async () => plane.stop() };
}

async function fill(
  admin: UndiciKubeClient,
  count: number,
  tell: (line: string) => void,
): Promise<void> {
  const bodies = Array.from({ length: count }, (_, index) => bodyOf(index));
  const used = new Set(bodies.map(({ metadata }) => metadata?.namespace ?? ''));
  await Promise.all([...used].map((name) => admin.create(namespaces, { metadata: { name } })));
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let body = bodies[next++]; body; body = bodies[next++]) {
      await admin.create(pods, body); // oxlint-disable-line no-await-in-loop -- each worker in turn
      if (next % 2000 === 0) tell(`api-server: ${next} Pods are there`);
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
}

/** Without what would have it placed, started or collected; as long as it would be then. */
function bodyOf(index: number): Pod {
  const pod = podOf(index, 'fifty-alike') as Required<Pod>;
  const { name, namespace, labels, annotations } = pod.metadata ?? {};
  const { containers, tolerations = [] } = pod.spec;
  const [container] = containers.map((one) => ({ ...one, volumeMounts: [] }));
  return {
    metadata: {
      ...(name && { name }),
      ...(namespace && { namespace }),
      ...(labels && { labels }),
      annotations: { ...annotations, 'example.com/padding': 'x'.repeat(1500) },
    },
    spec: {
      containers: container ? [container] : [],
      tolerations,
      schedulerName: 'nobody',
      automountServiceAccountToken: false,
    } as Pod['spec'] & object,
  };
}
