import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { nodePools } from '#schemas/karpenter/types.ts';
import type { PodSpec } from '#schemas/kubernetes/core.ts';
import { daemonSets, nodes } from '#schemas/kubernetes/resource.ts';
import { labels } from '#schemas/names.ts';
import { seconds } from '#schemas/time/clock.ts';

import { World } from './testing/world.ts';

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world.end());

/** Quantities that the API server stores, and one that it does not, should it ever be there. */
const stored = [
  ['100e1998', '100e1998'],
  ['100e998', '100e998'],
  ['1e2147483647', '1e2147483647'],
  ['1102 digits', '9'.repeat(1102)],
] as const;
const poisons = [...stored, ['1e1.5', '1e1.5']] as const;

/** Names that each object has a property of; all of them are valid names of labels and of limits. */
const everyObjects = ['constructor', 'toString', 'hasOwnProperty', 'valueOf'];

const containersOf = (memory: string): PodSpec['containers'] =>
  ['a', 'b'].map((name) => ({ name, resources: { requests: { memory } } }));

/** What machines ask for once three Pods have come that nothing is wrong with: one carries them. */
async function healthy(): Promise<unknown> {
  world.start();
  for (let index = 0; index < 3; index++) world.seedPod(`well-${index}`, { cpu: '2' });
  await world.clock.forward(seconds(12));
  return world.claims.map(({ spec }) => spec.resources?.requests?.['cpu']);
}

function seedHost(name: string, allocatable: Record<string, string>): void {
  const ready = { type: 'Ready', status: 'True' as const };
  const status = { allocatable, conditions: [ready] };
  world.client.seed(nodes, { metadata: { name, labels: {} }, status });
}

const host = { cpu: '1', memory: '8Gi', pods: '100' };

describe.each(poisons)('an amount of %s keeps nobody else waiting', (_, text) => {
  beforeEach(() => void world.seedPool('web'));

  test('of a Pod that waits, which is told so', async () => {
    world.seedPod('poison', { memory: text });
    world.seedPod('twice', {}, { spec: { containers: containersOf(text) } });
    world.seedPod('thumb', { cpu: text });
    expect(await healthy()).toEqual(['6']);
    const told = world.notesOf('FailedScheduling');
    expect(new Set(told.map(({ object }) => object.metadata?.name))).toEqual(
      new Set(['poison', 'twice', 'thumb']),
    );
    const texts = told.map(({ message }) => message);
    expect(texts.filter((one) => !/asks for .* (?:counted|cannot be read)/.test(one))).toEqual([]);
    expect(texts.filter((one) => one.length > 1024)).toEqual([]);
  });

  test('of a Pod on a Node', async () => {
    seedHost('host', host);
    const on = { nodeName: 'host', containers: containersOf(text) };
    world.seedPod('bound', {}, { spec: on, status: {} });
    expect(await healthy()).toEqual(['6']);
  });

  test('of a Node', async () => {
    seedHost('host', { ...host, 'x.io/y': text });
    expect(await healthy()).toEqual(['6']);
  });

  test('of a DaemonSet', async () => {
    seedHost('host', host);
    for (const [name, containers] of [
      ['one', containersOf(text).slice(1)],
      ['two', containersOf(text)],
    ] as const) {
      const spec = { template: { spec: { containers, tolerations: [{ operator: 'Exists' }] } } };
      world.client.seed(daemonSets, { metadata: { name }, spec } as never);
    }
    expect(await healthy()).toEqual(['6']);
  });
});

describe('limits of a pool', () => {
  test.each(stored)('of %s are as good as none', async (_, text) => {
    world.seedPool('web', { cpu: text, memory: text, nodes: text });
    expect(await healthy()).toEqual(['6']);
  });

  test.each(everyObjects)('of %s hold what there is none of', async (name) => {
    world.seedPool('other', { [name]: '7' });
    world.seedPool('web', { [name]: '7', cpu: '100' });
    expect(await healthy()).toEqual(['6']);
  });
});

describe('labels named like a property of each object', () => {
  test.each(everyObjects)('%s is a label that no machine has', async (name) => {
    world.seedPool('web');
    seedHost('host', host);
    world.seedPod('seeks', { cpu: '1' }, { spec: { nodeSelector: { [name]: 'x' } } });
    expect(await healthy()).toEqual(['6']);
    const [told] = world.notesOf('FailedScheduling').map(({ message }) => message);
    expect(told).toContain(name);
  });

  test.each(everyObjects)('%s is given by the pool that says so', async (name) => {
    const pool = world.seedPool('web');
    const { template } = pool.spec;
    const given = { ...template, metadata: { labels: { [name]: 'x' } } };
    world.client.seed(nodePools, { ...pool, spec: { ...pool.spec, template: given } });
    world.start();
    world.seedPod('seeks', { cpu: '1' }, { spec: { nodeSelector: { [name]: 'x' } } });
    await world.clock.forward(seconds(12));
    expect(world.claims.map(({ metadata }) => metadata.labels?.[labels.nodePool])).toEqual(['web']);
  });
});
