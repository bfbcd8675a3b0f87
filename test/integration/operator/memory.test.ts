/**
 * Pods that ask for little and may have much: kube-scheduler counts what they ask for, the machine what they may have.
 * Kraftlet refuses a Pod that finds no live memory, and its controller makes another one.
 *
 * Source: Unikraft's Kubernetes integration page, Pod rescheduling; sandbox/kraftlet/README.md says what is assumed.
 */
import { afterAll, beforeAll, expect, inject, test } from 'vitest';

import { SharedInformer } from '#kube/cache/shared-informer.ts';
import { silentLogger } from '#kube/log.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import type { KubeObject, Live, ResourceList } from '#schemas/kubernetes/meta.ts';
import { pods } from '#schemas/kubernetes/resource.ts';
import { labels } from '#schemas/names.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';
import { nodeClass, nodePool, size, workload } from '#test/world/objects.ts';
import { TestWorld } from '#test/world/test-world.ts';

const timeout = 120_000;

let world: TestWorld;
/** UIDs of Pods that Kraftlet refused, by the workload that they are of. */
const refused = new Map<string, Set<string>>();
const end = new AbortController();

beforeAll(async () => {
  world = await TestWorld.start(inject('tools'));
  await world.expectUsable(
    nodeClass({
      kraftlet: {
        ...nodeClass().spec.kraftlet,
        values: {
          kraftlet: {
            podStatusUpdateInterval: '1s',
            env: { SANDBOX_NODE_STATUS_INTERVAL: '1s' },
          },
        },
      },
    }),
  );
  watchRefusals();
});
afterAll(async () => {
  end.abort();
  await world?.stop();
});

/** 6 vCPUs and 28 GiB are for Pods. */
const machines = (name: string) => nodePool({ name, requirements: [size('m7i.2xlarge')] });

test.concurrent(
  'Pods that fill a machine each cost at most one more for each that was refused',
  async () => {
    await world.expectApplied(machines('full'), hungry('full', 3, { memory: '20Gi' }));
    const running = await world.expectRunning('full', 3);
    await nothingMoreComes();

    expect(new Set(running.map(({ spec }) => spec?.nodeName)).size).toBe(3);
    expect(nodesOf('full')).toHaveLength(3);
    expect(refusedOf('full')).toBeGreaterThanOrEqual(2);
  },
  timeout,
);

test.concurrent(
  'a Pod that is refused goes to a Node with room where there is one',
  async () => {
    await world.expectApplied(
      machines('room'),
      hungry('hog', 1, { cpu: '3', memory: '20Gi' }, 'room'),
    );
    const [hog] = await world.expectRunning('hog', 1);
    await world.expectApplied(hungry('calm', 1, { cpu: '4', memory: '1Gi' }, 'room'));
    const [calm] = await world.expectRunning('calm', 1);
    expect(nodesOf('room')).toHaveLength(2);

    // kube-scheduler prefers the Node with more vCPUs left, which is the hog's
    await world.expectApplied(hungry('late', 1, { cpu: '1', memory: '20Gi' }, 'room'));
    const [late] = await world.expectRunning('late', 1);

    expect(refusedOf('late')).toBeGreaterThanOrEqual(1);
    expect(late?.spec?.nodeName).toBe(calm?.spec?.nodeName);
    expect(late?.spec?.nodeName).not.toBe(hog?.spec?.nodeName);
    expect(nodesOf('room')).toHaveLength(2);
  },
  timeout,
);

test.concurrent(
  'Pods that slept beside each other part when they are asked something',
  async () => {
    const sleeps = {
      'cloud.unikraft.v1.instances/scale_to_zero.policy': 'on',
      'sandbox.karpenter.unikraft.com/request-after': '6s',
    };
    await world.expectApplied(
      machines('sleepy'),
      hungry('sleepy', 1, { memory: '20Gi' }, 'sleepy', sleeps),
    );
    await world.expectRunning('sleepy', 1);
    await asleep();
    await world.expectApplied(hungry('sleepy', 2, { memory: '20Gi' }, 'sleepy', sleeps));
    await world.expectRunning('sleepy', 2);
    expect(nodesOf('sleepy')).toHaveLength(1);

    await world.eventually('one refused', async () => refusedOf('sleepy') > 0);
    const running = await world.expectRunning('sleepy', 2);
    expect(new Set(running.map(({ spec }) => spec?.nodeName)).size).toBe(2);
    expect(nodesOf('sleepy')).toHaveLength(2);
  },
  timeout,
);

test.concurrent(
  'a Pod that fits no machine costs one, however often it is refused',
  async () => {
    await world.expectApplied(machines('huge'), hungry('huge', 1, { memory: '64Gi' }));
    await world.eventually('refused again and again', async () => refusedOf('huge') > 2);
    await nothingMoreComes();
    expect(nodesOf('huge')).toHaveLength(1);
    await world.expectDeleted(hungry('huge', 1, { memory: '64Gi' }));
  },
  timeout,
);

const nodesOf = (pool: string): string[] =>
  world.nodesEverSeen().filter((name) => name.startsWith(`${pool}-`));

const refusedOf = (name: string): number => refused.get(name)?.size ?? 0;

/** Time for all that waits, and for a machine that would be made to open. */
async function nothingMoreComes(): Promise<void> {
  await world.clock.forward(minutes(1));
  await realSeconds(3);
}

/** Longer than a second of idleness, and shorter than it takes until somebody asks. */
const asleep = async (): Promise<void> => realSeconds(2);

async function realSeconds(count: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, seconds(count)));
}

/** Asks for little, and may have so much memory; it goes to machines of the pool alone. */
function hungry(
  name: string,
  replicas: number,
  { cpu = '500m', memory }: { cpu?: string; memory: string },
  pool = name,
  annotations: Record<string, string> = {},
): KubeObject {
  const deployment = workload('Deployment', name, replicas) as KubeObject & {
    spec: { template: { metadata: object; spec: NonNullable<Pod['spec']> } };
  };
  const { template } = deployment.spec;
  const requests: ResourceList = { cpu, memory: '128Mi' };
  template.metadata = { ...template.metadata, annotations };
  template.spec = {
    ...template.spec,
    containers: [
      {
        name: 'app',
        image: 'nginx:1.29',
        resources: { requests, limits: { ...requests, memory } },
      },
    ],
    nodeSelector: { ...template.spec.nodeSelector, [labels.nodePool]: pool },
  };
  return deployment;
}

function watchRefusals(): void {
  const watched = new SharedInformer<Pod>(world.client, pods, {
    clock: new SystemClock(),
    log: silentLogger,
    namespace: 'default',
  });
  const look = ({ metadata, status }: Live<Pod>): void => {
    if (status?.reason !== 'QuotaExceeded') return;
    const name = metadata.labels?.['app'] ?? '';
    refused.set(name, (refused.get(name) ?? new Set()).add(metadata.uid));
  };
  watched.subscribe({ add: look, update: look, delete: look });
  void watched.run(end.signal);
}
