import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';

import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';

import { isNotFound } from '#kube/client/errors.ts';
import { ControlPlane } from '#sandbox/control-plane/control-plane.ts';
import { HostNode } from '#sandbox/host-node/host-node.ts';
import type { RunnableContainer } from '#sandbox/host-node/pod-spec.ts';
import type { Programs, RunningPod } from '#sandbox/host-node/program.ts';
import { applyAll } from '#sandbox/manifests/apply.ts';
import { Run } from '#sandbox/processes/run.ts';
import type { Pod, PodSpec } from '#schemas/kubernetes/core.ts';
import { configMaps, nodes, pods, secrets } from '#schemas/kubernetes/resource.ts';

let run: Run;
let plane: ControlPlane;
let host: HostNode;
const started: RunningPod[] = [];

/** Answers on each declared port until it is told to end. */
async function serve(pod: RunningPod, signal: AbortSignal): Promise<void> {
  started.push(pod);
  const ports = (pod.container.ports ?? []).map(({ containerPort }) => pod.port(containerPort));
  const servers = ports.map((port) =>
    createServer((_, response) => response.end(pod.pod.metadata.name)).listen(port, '127.0.0.1'),
  );
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
  for (const server of servers) server.closeAllConnections();
  for (const server of servers) server.close();
}

const programs: Programs = {
  'example.com/server': { run: serve },
  'example.com/sleeper:1': { command: ['sleep'] },
  'example.com/stubborn': { command: ['sh', '-c', 'trap "" TERM; while true; do sleep 1; done'] },
  'example.com/failing': { command: ['sh', '-c', 'echo out of luck; exit 3'] },
};

beforeAll(async () => {
  run = await Run.open('host-node-test');
  plane = await ControlPlane.start({ tools: inject('tools'), run });
  host = await HostNode.start({ plane, run, programs, labels: { 'example.com/kind': 'host' } });
});

afterAll(async () => {
  await host?.stop();
  await plane?.stop();
  await run?.close();
});

const within = { timeout: 20_000, interval: 100 };

async function create(
  name: string,
  container: Partial<RunnableContainer>,
  spec?: Partial<PodSpec>,
) {
  const containers = [{ name: 'main', ...container }];
  const object: Pod = {
    metadata: { namespace: 'default', name },
    spec: { terminationGracePeriodSeconds: 5, ...spec, containers },
  };
  return plane.admin.create(pods, object);
}

const read = async (name: string) => plane.admin.get(pods, { namespace: 'default', name });
const remove = async (name: string) => plane.admin.delete(pods, { namespace: 'default', name });

async function expectGone(name: string): Promise<void> {
  await vi.waitFor(async () => {
    const found = await read(name).catch((error: unknown) => error);
    expect(isNotFound(found)).toBe(true);
  }, within);
}

const conditionOf = ({ status }: Pod, type: string) =>
  status?.conditions?.find((condition) => condition.type === type)?.status;

test('a Deployment runs here: the real controllers make its Pods, the real scheduler binds them', async () => {
  const labels = { app: 'web' };
  const container: RunnableContainer = {
    name: 'web',
    image: 'example.com/server:2.0',
    args: ['--listen=:8443'],
    ports: [{ name: 'https', containerPort: 8443 }],
    readinessProbe: { httpGet: { path: '/', port: 'https' }, periodSeconds: 1 },
  };
  await applyAll(plane.admin, [
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web' },
      spec: {
        replicas: 3,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [container] } },
      },
    } as never,
  ]);

  const backends = await vi.waitFor(() => {
    const ready = host.backends({ namespace: 'default', labels }, 8443);
    expect(ready).toHaveLength(3);
    return ready;
  }, within);

  const answers = await Promise.all(
    backends.map(async ({ port }) => (await fetch(`http://127.0.0.1:${port}`)).text()),
  );
  expect(new Set(answers).size).toBe(3);
  const { items } = await plane.admin.list(pods, {
    namespace: 'default',
    labelSelector: 'app=web',
  });
  await vi.waitFor(async () => {
    const states = await Promise.all(items.map(({ metadata }) => read(metadata.name)));
    expect(states.map((pod) => [pod.status?.phase, conditionOf(pod, 'Ready')])).toEqual(
      Array.from({ length: 3 }, () => ['Running', 'True']),
    );
  }, within);
  expect(started[0]?.args).toEqual([`--listen=:${started[0]?.port(8443)}`]);
});

test('what a Pod is told of its volumes and environment holds on this computer', async () => {
  await plane.admin.create(secrets, {
    metadata: { namespace: 'default', name: 'ca' },
    stringData: { 'ca.crt': 'trust me' },
  });
  await plane.admin.create(configMaps, {
    metadata: { namespace: 'default', name: 'settings' },
    data: { mode: 'calm' },
  });
  await create(
    'told',
    {
      image: 'example.com/server',
      env: [
        { name: 'MODE', valueFrom: { configMapKeyRef: { name: 'settings', key: 'mode' } } },
        { name: 'ME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
        { name: 'SSL_CERT_DIR', value: '/etc/trust:/etc/ssl' },
        { name: 'GREETING', value: 'I am $(ME), $(MODE), $$(ME)' },
      ],
      volumeMounts: [{ name: 'trust', mountPath: '/etc/trust' }],
    },
    { volumes: [{ name: 'trust', secret: { secretName: 'ca' } }] },
  );

  const told = await vi.waitFor(() => {
    const found = started.find(({ pod }) => pod.metadata.name === 'told');
    expect(found).toBeDefined();
    return found as RunningPod;
  }, within);

  expect(told.env).toMatchObject({
    MODE: 'calm',
    GREETING: 'I am told, calm, $(ME)',
    SSL_CERT_DIR: `${told.path('/etc/trust')}:/etc/ssl`,
  });
  expect(await readFile(`${told.path('/etc/trust')}/ca.crt`, 'utf8')).toBe('trust me');
  const account = told.env['KUBERNETES_SERVICE_ACCOUNT_DIR'];
  expect(await readFile(`${account}/token`, 'utf8')).toMatch(/^ey/);
  await remove('told');
  await expectGone('told');
});

test('a process is started, and is gone before its Pod is', async () => {
  await create('sleeper', { image: 'example.com/sleeper:1', args: ['1000'] });
  await vi.waitFor(
    async () => expect((await read('sleeper')).status?.phase).toBe('Running'),
    within,
  );
  const process = run.processes.find(({ name }) => name === 'default_sleeper_main');

  await remove('sleeper');
  await expectGone('sleeper');

  expect(process?.exit).toMatchObject({ signal: 'SIGTERM' });
});

test('an unknown image and a missing Secret are shown as a kubelet shows them', async () => {
  await create('unknown', { image: 'example.com/nobody' });
  const valueFrom = { secretKeyRef: { name: 'nowhere', key: 'token' } };
  await create('unset', { image: 'example.com/server', env: [{ name: 'TOKEN', valueFrom }] });

  await vi.waitFor(async () => {
    const reasons = [await read('unknown'), await read('unset')].map(
      ({ status }) => status?.containerStatuses?.[0]?.state?.waiting,
    );
    expect(reasons).toMatchObject([
      { reason: 'ImagePullBackOff', message: expect.stringContaining('example.com/nobody') },
      { reason: 'CreateContainerConfigError', message: 'secret "nowhere" not found' },
    ]);
  }, within);
  await Promise.all([remove('unknown'), remove('unset')]);
  await Promise.all([expectGone('unknown'), expectGone('unset')]);
});

test('a Pod waits for a Secret that is mounted, says so, and starts once it is there', async () => {
  const volumeMounts = [{ name: 'late', mountPath: '/late' }];
  const volumes = [{ name: 'late', secret: { secretName: 'late' } }];
  await create('waiting', { image: 'example.com/server', volumeMounts }, { volumes });
  await vi.waitFor(async () => {
    const { state } = (await read('waiting')).status?.containerStatuses?.[0] ?? {};
    expect(state?.waiting?.message).toBe('secret "late" not found');
  }, within);

  await plane.admin.create(secrets, { metadata: { namespace: 'default', name: 'late' } });

  await vi.waitFor(
    async () => expect((await read('waiting')).status?.phase).toBe('Running'),
    within,
  );
  await remove('waiting');
  await expectGone('waiting');
});

test('a Pod deleted by force while it ignores SIGTERM leaves no process', async () => {
  await create(
    'stubborn',
    { image: 'example.com/stubborn' },
    { terminationGracePeriodSeconds: 600 },
  );
  await vi.waitFor(
    async () => expect((await read('stubborn')).status?.phase).toBe('Running'),
    within,
  );
  const process = run.processes.find(({ name }) => name === 'default_stubborn_main');
  await remove('stubborn');

  const key = { namespace: 'default', name: 'stubborn' };
  await plane.admin.delete(pods, key, { gracePeriodSeconds: 0 });

  await vi.waitFor(() => expect(process?.exit).toMatchObject({ signal: 'SIGKILL' }), within);
});

test('a program that fails is started again, with its last words in the status', async () => {
  await create('failing', { image: 'example.com/failing' });

  await vi.waitFor(async () => {
    const status = (await read('failing')).status?.containerStatuses?.[0];
    expect(status?.restartCount).toBeGreaterThan(0);
    expect(status?.state?.waiting).toMatchObject({
      reason: 'CrashLoopBackOff',
      message: 'exit code 3: out of luck',
    });
  }, within);
  await remove('failing');
  await expectGone('failing');
});

test('a program whose liveness probe fails is started again', async () => {
  const livenessProbe = { tcpSocket: { port: 1 }, periodSeconds: 1, failureThreshold: 2 };
  await create('sick', { image: 'example.com/server', livenessProbe });

  await vi.waitFor(async () => {
    expect((await read('sick')).status?.containerStatuses?.[0]?.restartCount).toBeGreaterThan(0);
  }, within);
  await remove('sick');
  await expectGone('sick');
});

test('a Pod that is to run once succeeds and stays to be read', async () => {
  const spec = { restartPolicy: 'Never' } as const;
  await create('once', { image: 'example.com/sleeper:1', args: ['0'] }, spec);

  await vi.waitFor(
    async () => expect((await read('once')).status?.phase).toBe('Succeeded'),
    within,
  );
  await remove('once');
  await expectGone('once');
});

test('the Node is Ready by its Lease and carries its labels', async () => {
  const node = await plane.admin.get(nodes, { name: host.name });

  expect(node.metadata.labels).toMatchObject({ 'example.com/kind': 'host' });
  expect(node.spec?.taints ?? []).toEqual([]); // not-ready was taken off by the real controller
});
