/** A node class whose machines turn out to offer a tenth less memory than was predicted. */
import { afterAll, beforeAll, expect, inject, test } from 'vitest';

import type { KubeObject, ResourceList } from '#schemas/kubernetes/meta.ts';
import { pods } from '#schemas/kubernetes/resource.ts';
import { labels, tags } from '#schemas/names.ts';
import { unikraftNodeClasses } from '#schemas/nodeclass/types.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';
import { nodeClass, nodePool, workload } from '#test/world/objects.ts';
import { TestWorld } from '#test/world/test-world.ts';

const timeout = 120_000;
/** 12 GiB are for Pods, and 28. */
const [small, large] = ['m7i.xlarge', 'm7i.2xlarge'] as const;
const tenthLess = 11_059; // of 12,288 MiB

let world: TestWorld;

beforeAll(async () => {
  world = await TestWorld.start(inject('tools'));
});
afterAll(async () => world?.stop());

test(
  'costs one machine that its Pod does not fit, and none ever after, where the platform allows less',
  async () => {
    world.cloud.machines.next({ quotas: { memoryMiB: tenthLess } });
    await world.expectUsable(nodeClass({}, 'quotas'));
    await world.expectApplied(pool('quotas', [small, large]), needing('quotas', 1));

    await soonRunning('quotas', 1);
    expect(sizes('quotas')).toEqual([small, large]);
    expect(await lessons('quotas')).toEqual([[small, tenthLess]]);

    await anew('quotas');
    expect(sizes('quotas')).toEqual([small, large, large]);
  },
  timeout,
);

test(
  'costs one machine, and none ever after, where only its Node offers less',
  async () => {
    const values = { kraftlet: { env: { SANDBOX_ADVERTISED_PERCENT: '90' } } };
    const kraftlet = { ...nodeClass().spec.kraftlet, values };
    await world.expectUsable(nodeClass({ kraftlet }, 'node'));
    await world.expectApplied(pool('node', [small, large]), needing('node', 1));

    await soonRunning('node', 1);
    expect(sizes('node')).toEqual([small, large]);
    expect(await lessons('node')).toContainEqual([small, tenthLess]);

    await anew('node');
    expect(sizes('node')).toEqual([small, large, large]);
  },
  timeout,
);

test(
  'costs two machines, however many Pods need nearly all of one each',
  async () => {
    for (let machine = 0; machine < 6; machine++)
      world.cloud.machines.next({ quotas: { memoryMiB: machine < 2 ? tenthLess : 28_672 } });
    await world.expectUsable(nodeClass({}, 'burst'));
    await world.expectApplied(pool('burst', [small, large]), alone(needing('burst', 4)));

    await soonRunning('burst', 4);
    expect(sizes('burst')).toEqual([small, small, large, large, large, large]);
  },
  timeout,
);

test(
  'costs what more Pods need on machines that hold fewer of them, and no more',
  async () => {
    world.cloud.machines.next({ quotas: { memoryMiB: tenthLess } });
    world.cloud.machines.next({ quotas: { memoryMiB: tenthLess } });
    world.cloud.machines.next({ quotas: { memoryMiB: tenthLess } });
    // a guest takes a whole vCPU at least, so there are more of them than the machine has
    const platform = { ...nodeClass().spec.platform, capacity: { vcpus: '400%' } };
    await world.expectUsable(nodeClass({ platform }, 'packed'));
    const eight = needing('packed', 8, { cpu: '100m', memory: '3Gi' });
    await world.expectApplied(pool('packed', [small]), eight);

    await soonRunning('packed', 8);
    expect(sizes('packed')).toEqual([small, small, small]); // planned 4 + 4, and 3 fit
  },
  timeout,
);

const pool = (name: string, values: string[]): KubeObject =>
  nodePool({
    name,
    nodeClass: name,
    requirements: [{ key: labels.instanceType, operator: 'In', values }],
  });

/** Pods that fit the smaller size as it was predicted, and not as it is. */
function needing(
  name: string,
  replicas: number,
  requests: ResourceList = { cpu: '1', memory: '11500Mi' },
): KubeObject {
  const deployment = workload('Deployment', name, replicas, requests) as KubeObject & {
    spec: { template: { spec: { nodeSelector: object } } };
  };
  const { spec } = deployment.spec.template;
  spec.nodeSelector = { ...spec.nodeSelector, [labels.nodePool]: name };
  return deployment;
}

/** Each on a Node of its own. */
function alone(deployment: KubeObject): KubeObject {
  const { spec } = deployment as KubeObject & {
    spec: { selector: object; template: { spec: { affinity?: object } } };
  };
  const term = { topologyKey: labels.hostname, labelSelector: spec.selector };
  const podAntiAffinity = { requiredDuringSchedulingIgnoredDuringExecution: [term] };
  spec.template.spec.affinity = { podAntiAffinity };
  return deployment;
}

/** What a Pod was nominated for in vain is planned anew after 20 s, which need not be waited for. */
async function soonRunning(name: string, count: number): Promise<void> {
  await world.eventually(`${name} planned anew and running`, async () => {
    await world.clock.forward(seconds(10));
    const { items } = await world.client.list(pods, { labelSelector: `app=${name}` });
    return items.filter(({ status }) => status?.phase === 'Running').length === count;
  });
}

/** All that there is goes, and the Pods come again. */
async function anew(name: string): Promise<void> {
  await world.expectApplied(needing(name, 0));
  const own = (await world.claims()).filter(
    ({ metadata }) => metadata.labels?.[labels.nodePool] === name,
  );
  await world.expectDeleted(...own);
  await Promise.all(own.map(async (claim) => world.expectGone(claim)));
  await world.expectApplied(needing(name, 1));
  await soonRunning(name, 1);
  await world.clock.forward(minutes(1));
}

/** Of every machine that was ever launched for the pool, in order. */
const sizes = (name: string): string[] =>
  world.cloud.ec2.instances.all
    .filter((instance) => instance.tags[tags.nodePool] === name)
    .map(({ launch }) => launch.size.type);

async function lessons(name: string): Promise<[string, number][]> {
  const { status } = await world.client.get(unikraftNodeClasses, { name });
  return (status?.capacityCorrections ?? []).map(({ instanceType, memoryMiB }) => [
    instanceType,
    memoryMiB,
  ]);
}
