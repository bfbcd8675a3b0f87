/**
 * The stand-in Kraftlet against a real control plane, with the rights and the environment that its chart gives it
 * when the real Helm renders it.
 */
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';
import { parseAllDocuments } from 'yaml';

import { isForbidden, isNotFound } from '#kube/client/errors.ts';
import { inClusterConnection } from '#kube/client/in-cluster.ts';
import { UndiciKubeClient } from '#kube/client/undici-client.ts';
import { silentLogger } from '#kube/log.ts';
import { HelmBinary } from '#machine/kraftlet/helm.ts';
import { ControlPlane } from '#sandbox/control-plane/control-plane.ts';
import { HostNode } from '#sandbox/host-node/host-node.ts';
import { Kraftlet } from '#sandbox/kraftlet/kraftlet.ts';
import { PlatformClient } from '#sandbox/kraftlet/platform-client.ts';
import { type KraftletSettings, readSettings } from '#sandbox/kraftlet/settings.ts';
import { LoneMachine } from '#sandbox/machine/testing/lone-machine.ts';
import { applyAll } from '#sandbox/manifests/apply.ts';
import { Run } from '#sandbox/processes/run.ts';
import type { Container, Pod, Secret, StatefulSet } from '#schemas/kubernetes/core.ts';
import type { KubeObject, Live } from '#schemas/kubernetes/meta.ts';
import { leases, namespaces, nodes, pods, statefulSets } from '#schemas/kubernetes/resource.ts';
import { finalizers, labels } from '#schemas/names.ts';
import { milliseconds } from '#schemas/time/clock.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

const chart = fileURLToPath(new URL('../../../sandbox/kraftlet/chart', import.meta.url));
const within = { timeout: 20_000, interval: 100 };
const release = 'web-1';
const namespace = 'kraftlet';
const providerID = 'unikraft://aws/eu-central-1/eu-central-1a/i-0123456789abcdef0';
const zone = 'eu-central-1a';

let run: Run;
let plane: ControlPlane;
let machine: LoneMachine;
let client: UndiciKubeClient;
let settings: KraftletSettings;
let platform: PlatformClient;
let stop: () => Promise<void>;

beforeAll(async () => {
  run = await Run.open('kraftlet-test');
  plane = await ControlPlane.start({ tools: inject('tools'), run });
  machine = await LoneMachine.make();
  await machine.powerOn({
    boot: milliseconds(0),
    unknown: milliseconds(0),
    degraded: milliseconds(0),
    health: 'healthy',
  });
  await plane.admin.create(namespaces, { metadata: { name: namespace } });
  const rendered = await render();
  // without a host node nobody would run the StatefulSet's Pod: its environment is taken from it instead
  await applyAll(plane.admin, rendered.filter(({ kind }) => kind !== 'StatefulSet') as never);
  settings = readSettings({ ...environmentIn(rendered), SANDBOX_DNS: machine.dnsServer });
  const folder = await plane.serviceAccountDirectory(namespace, release);
  const env = plane.environment(folder);
  client = new UndiciKubeClient(await inClusterConnection({ env }), { fieldManager: 'kraftlet' });
  platform = new PlatformClient(settings);
  stop = startKraftlet();
});

afterAll(async () => {
  await stop?.();
  platform?.close();
  await client?.close();
  await machine?.stop();
  await plane?.stop();
  await run?.close();
});

function startKraftlet(): () => Promise<void> {
  const parts = { settings, client, clock: new SystemClock(), log: silentLogger };
  const ending = new AbortController();
  const running = new Kraftlet(parts).run(ending.signal);
  return async () => {
    ending.abort();
    await running;
  };
}

async function render(name = release): Promise<KubeObject[]> {
  const values = {
    ukc: { metro: machine.url, token: machine.token },
    node: {
      name,
      providerId: providerID,
      labels: { [labels.zone]: zone },
      taint: { enable: true, key: 'karpenter.sh/unregistered', value: '', effect: 'NoSchedule' },
    },
    kraftlet: {
      env: {
        SSL_CERT_DIR: machine.certificates,
        KRAFTLET_ENABLE_PLATFORM_HEALTH_CONDITION: 'false',
      },
    },
  };
  const rendering = { release: name, chart, version: undefined, namespace, values };
  const helm = new HelmBinary(inject('tools').helm);
  const manifest = await helm.template(rendering, new AbortController().signal);
  return parseAllDocuments(manifest).map((document) => document.toJS() as KubeObject);
}

/** What a kubelet would give the container. */
function environmentIn(objects: readonly KubeObject[]): Record<string, string> {
  const set = objects.find(({ kind }) => kind === 'StatefulSet') as StatefulSet;
  const secret = objects.find(({ kind }) => kind === 'Secret') as Secret;
  const [container] = (set.spec?.template.spec.containers ?? []) as [Container];
  const token = Buffer.from(secret.data?.['token'] ?? '', 'base64').toString();
  return Object.fromEntries((container.env ?? []).map(({ name, value }) => [name, value ?? token]));
}

/** As the operator does at registration: the vendor's taint in place of the one that the Node was born with. */
async function register(): Promise<void> {
  const taints = [{ key: 'virtual-kubelet.io/provider', value: 'ukc', effect: 'NoSchedule' }];
  await plane.admin.patch(nodes, { name: release }, { type: 'merge', body: { spec: { taints } } });
}

async function create(
  name: string,
  {
    annotations = {},
    memory = '64Mi',
  }: { annotations?: Record<string, string>; memory?: string } = {},
): Promise<void> {
  await plane.admin.create(pods, {
    metadata: { namespace: 'default', name, annotations },
    spec: {
      nodeSelector: { [labels.virtualKubelet]: 'true' },
      tolerations: [{ key: 'virtual-kubelet.io/provider', value: 'ukc', effect: 'NoSchedule' }],
      containers: [
        {
          name: 'main',
          image: 'nginx',
          resources: { requests: { cpu: '1', memory: '64Mi' }, limits: { cpu: '1', memory } },
        },
      ],
    },
  });
}

const read = async (name: string): Promise<Live<Pod>> =>
  plane.admin.get(pods, { namespace: 'default', name });

async function expectPhase(name: string, phase: string): Promise<Live<Pod>> {
  return vi.waitFor(async () => {
    const pod = await read(name);
    expect(pod.status?.phase).toBe(phase);
    return pod;
  }, within);
}

/** The Node says so, and Kubernetes has its taint accordingly. */
async function pressure(status: 'True' | 'False') {
  return vi.waitFor(async () => {
    const node = await plane.admin.get(nodes, { name: release });
    const said = node.status?.conditions?.find(({ type }) => type === 'MemoryPressure');
    const keys = (node.spec?.taints ?? []).map(({ key }) => key);
    expect(said?.status).toBe(status);
    expect(keys.includes('node.kubernetes.io/memory-pressure')).toBe(status === 'True');
    return said;
  }, within);
}

async function remove(name: string): Promise<void> {
  await plane.admin.delete(pods, { namespace: 'default', name });
  await vi.waitFor(async () => {
    expect(isNotFound(await read(name).catch((error: unknown) => error))).toBe(true);
  }, within);
}

test('the Node joins closed, with the quotas of the platform as its capacity', async () => {
  const node = await vi.waitFor(async () => plane.admin.get(nodes, { name: release }), within);

  expect(node.spec).toMatchObject({
    providerID,
    taints: expect.arrayContaining([
      expect.objectContaining({ key: 'karpenter.sh/unregistered', effect: 'NoSchedule' }),
    ]),
  });
  expect(node.metadata.labels).toMatchObject({
    [labels.hostname]: release,
    [labels.virtualKubelet]: 'true',
    [labels.zone]: zone,
  });
  expect(node.status?.capacity).toMatchObject({ cpu: '8', memory: '4Gi', pods: '3' });
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
  expect(ready?.status).toBe('True');
  const key = { namespace: 'kube-node-lease', name: release };
  await vi.waitFor(async () => plane.admin.get(leases, key), within);
});

test('it may create its Node, and neither change nor delete it', async () => {
  const key = { name: release };
  const taken = client.patch(nodes, key, { type: 'merge', body: { spec: { taints: [] } } });
  expect(isForbidden(await taken.catch((error: unknown) => error))).toBe(true);
  expect(isForbidden(await client.delete(nodes, key).catch((error: unknown) => error))).toBe(true);
});

test('a Pod that the scheduler binds runs as a guest, and is not gone before its guest is', async () => {
  await register();
  await create('web');
  const pod = await expectPhase('web', 'Running');
  expect(pod.metadata.finalizers).toEqual([finalizers.kraftletPod]);
  expect(pod.status?.conditions?.find(({ type }) => type === 'Ready')?.status).toBe('True');
  expect(pod.status?.conditions?.find(({ type }) => type === 'PodScheduled')?.status).toBe('True');
  expect(await platform.guests()).toHaveLength(1);

  await remove('web');
  expect(await platform.guests()).toEqual([]);
});

test('a Pod that comes to an end keeps no guest', async () => {
  await create('job', { annotations: { 'sandbox.karpenter.unikraft.com/succeeds-after': '1s' } });
  await expectPhase('job', 'Succeeded');
  await vi.waitFor(async () => expect(await platform.guests()).toEqual([]), within);
  await remove('job');
});

test('a Pod whose limits go over the live quota fails with the reason', async () => {
  await create('huge', { memory: '8Gi' });
  const pod = await expectPhase('huge', 'Failed');
  expect(pod.status?.reason).toBe('QuotaExceeded');
  expect(await platform.guests()).toEqual([]);
  await remove('huge');
});

test('a Pod that sleeps leaves its memory to others, and fails when it is to go on without', async () => {
  const policy = 'cloud.unikraft.v1.instances/scale_to_zero.policy';
  const sleeps = { [policy]: 'on', 'sandbox.karpenter.unikraft.com/request-after': '4s' };
  await create('sleeper', { memory: '3Gi', annotations: sleeps });
  await expectPhase('sleeper', 'Running');
  await vi.waitFor(async () => {
    const [guest] = await platform.guests();
    expect(guest?.state).toBe('standby');
  }, within);
  await create('awake', { memory: '3Gi' });
  await expectPhase('awake', 'Running');

  const pod = await expectPhase('sleeper', 'Failed');
  expect(pod.status?.reason).toBe('QuotaExceeded');
  expect(await pressure('True')).toMatchObject({ reason: 'QuotaUsedUp' });
  await remove('sleeper');
  await remove('awake');
  await pressure('False');
});

test('a Node that was deleted comes back only when Kraftlet starts anew', async () => {
  await stop();
  await plane.admin.delete(nodes, { name: release });
  stop = startKraftlet();

  const node = await vi.waitFor(async () => plane.admin.get(nodes, { name: release }), within);
  expect(node.spec?.providerID).toBe(providerID);
});

test('Pods of an earlier start are taken over, not started twice', async () => {
  await register();
  await create('kept');
  await expectPhase('kept', 'Running');
  await stop();
  stop = startKraftlet();
  await create('next');
  await expectPhase('next', 'Running'); // so the new one has looked at its Pods
  expect(await platform.guests()).toHaveLength(2);
  await remove('next');
  await remove('kept');
});

test('as a process, by the StatefulSet of its chart', async () => {
  const kraftlet = {
    command: [process.execPath, fileURLToPath(import.meta.resolve('#sandbox/kraftlet/main.ts'))],
    env: { SANDBOX_DNS: machine.dnsServer },
  };
  const programs = { 'ghcr.io/unikraft-cloud/kraftlet': kraftlet };
  const host = await HostNode.start({ plane, run, programs });
  const name = 'web-2';
  await applyAll(plane.admin, (await render(name)) as never);

  const node = await vi.waitFor(async () => plane.admin.get(nodes, { name }), within);
  expect(node.status?.capacity).toMatchObject({ cpu: '8', memory: '4Gi', pods: '3' });
  const running = (): string[] => run.processes.map((process) => process.name);
  expect(running()).toContain(`${namespace}_${name}-0_kraftlet`);

  await plane.admin.delete(statefulSets, { namespace, name });
  await vi.waitFor(
    () => expect(running()).not.toContain(`${namespace}_${name}-0_kraftlet`),
    within,
  );
  await host.stop();
});
