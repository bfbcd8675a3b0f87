/** K49 and F22 of docs/reference/karpenter-behaviour.md: what kube-scheduler gives Pods, planning gives them too. */
import { afterEach, beforeEach, expect, test } from 'vitest';

import type { PodSpec } from '#schemas/kubernetes/core.ts';
import { services } from '#schemas/kubernetes/resource.ts';
import { seconds } from '#schemas/time/clock.ts';

import { DefaultSpreads } from './default-spread/default-spreads.ts';
import { parseSchedulerConfig } from './default-spread/scheduler-config.ts';
import { memorySpreadCaches } from './default-spread/testing/caches.ts';
import { World } from './testing/world.ts';

const window = seconds(2);
const perHost = {
  topologyKey: 'kubernetes.io/hostname',
  maxSkew: 1,
  whenUnsatisfiable: 'DoNotSchedule',
};
const labels = { app: 'web' };

let world: World;
beforeEach(() => {
  world = new World();
  world.seedPool('web');
});
afterEach(() => world.end());

function startUnder(config: object): void {
  const parsed = parseSchedulerConfig(JSON.stringify(config));
  if (!parsed) throw new Error('no spread is given');
  const caches = memorySpreadCaches(world.client, world.clock);
  world.start({}, { defaultSpreads: new DefaultSpreads(parsed, caches) });
}

/** How many machines two small Pods of one Service get. */
async function machinesOfTwo(spec: Partial<PodSpec> = {}): Promise<number> {
  world.seedPod('a', { cpu: '100m' }, { labels, spec });
  world.seedPod('b', { cpu: '100m' }, { labels, spec });
  await world.clock.forward(window);
  return world.claims.length;
}

const upstream = { podTopologySpread: { defaultConstraints: [perHost] } };
const serve = () =>
  world.client.seed(services, {
    metadata: { namespace: 'shop', name: 'web' },
    spec: { selector: labels },
  });

test('without the setting Pods share a machine', async () => {
  serve();
  world.start();
  expect(await machinesOfTwo()).toBe(1);
});

test('K49 F22: with it each of a Service’s Pods gets a host of its own', async () => {
  serve();
  startUnder(upstream);
  expect(await machinesOfTwo()).toBe(2);
});

test('Pods that nobody selects are given nothing', async () => {
  startUnder(upstream);
  expect(await machinesOfTwo()).toBe(1);
});

test('a spread of one’s own is all that holds', async () => {
  serve();
  startUnder(upstream);
  const own = { ...perHost, maxSkew: 2, labelSelector: { matchLabels: labels } };
  expect(await machinesOfTwo({ topologySpreadConstraints: [own] as never })).toBe(1);
});

test('Pods of a scheduler that is configured otherwise are given nothing', async () => {
  serve();
  const args = { defaultingType: 'List', defaultConstraints: [perHost] };
  const pluginConfig = [{ name: 'PodTopologySpread', args }];
  startUnder({ kind: 'KubeSchedulerConfiguration', profiles: [{ pluginConfig }] });
  expect(await machinesOfTwo({ schedulerName: 'packer' })).toBe(1);
});
