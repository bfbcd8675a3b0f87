import { beforeEach, describe, expect, test } from 'vitest';

import type { Node, Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { leases, nodes, pods } from '#schemas/kubernetes/resource.ts';
import { annotations, labels } from '#schemas/names.ts';
import { minutes } from '#schemas/time/clock.ts';

import { ClaimWorld } from '../../testing/claim-world.ts';
import { condition } from '../../testing/objects.ts';
import { refusal } from '../../testing/refusals.ts';

/** A Kraftlet Pod in termination on a host that is not heard of any more, before a machine that is well. */
let world: ClaimWorld;
let old: Live<Pod>;
let name: string;
beforeEach(async () => {
  world = await ClaimWorld.make();
  await world.claim();
  await world.initialized();
  await world.clock.forward(minutes(10));
  name = world.nodes[0]!.metadata.name;
  world.client.seed(nodes, { metadata: { name: 'host' }, status: ready('Unknown') });
  old = leaving(world.client.all(pods)[0]!);
  renew();
  report('Unknown');
});

const ready = (status: 'True' | 'False' | 'Unknown') => ({
  conditions: [condition('Ready', status)],
});
const own = () =>
  world.client.all(pods).filter(({ metadata }) => metadata.labels?.[labels.claimUid]);
const isThere = (): boolean => own().some(({ metadata }) => metadata.uid === old.metadata.uid);
const forced = () =>
  world.client.writes.filter(({ verb, plural }) => verb === 'delete' && plural === 'pods');
const told = (reason: string): string[] =>
  world.notes.filter((note) => note.reason === reason).map(({ message }) => message);

/** Its kubelet was told, and does not answer. */
function leaving(pod: Live<Pod>): Live<Pod> {
  const deletionTimestamp = world.clock.stamp();
  const metadata = { ...pod.metadata, deletionTimestamp, deletionGracePeriodSeconds: 30 };
  return world.client.seed(pods, {
    ...pod,
    metadata,
    spec: { containers: [], nodeName: 'host' },
  });
}

function change(node: string, into: (node: Live<Node>) => Partial<Node>): void {
  const present = world.client.peek(nodes, { name: node })!;
  world.client.seed(nodes, { ...present, ...into(present) });
}
const report = (status: 'True' | 'False' | 'Unknown'): void =>
  change(name, (node) => ({ status: { ...node.status, ...ready(status) } }));

/** The old Kraftlet writes to its Lease. */
function renew(): void {
  const metadata = { namespace: 'kube-node-lease', name };
  world.client.seed(leases, { metadata, spec: { renewTime: world.clock.stamp() } });
}

async function pass(rounds: number, meanwhile = (): void => {}): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    meanwhile();
    // oxlint-disable-next-line no-await-in-loop -- one minute after the other
    await world.round();
    // oxlint-disable-next-line no-await-in-loop -- as above
    await world.clock.forward(minutes(1));
  }
}

describe('is let go, once, with its UID and version as precondition', () => {
  test('when neither its host nor itself has been heard of for two minutes of watching', async () => {
    await pass(4); // twice it is not past its end; then two looks, a minute apart
    expect(isThere()).toBe(true);
    await pass(1);
    expect(isThere()).toBe(false);
    const { uid, resourceVersion } = old.metadata;
    expect(forced().map(({ body }) => body)).toEqual([
      { uid, resourceVersion, gracePeriodSeconds: 0 },
    ]);
    expect(told('KraftletReleased')).toEqual([
      `Kraftlet Pod ${name}-0 was stuck on host host, which has not been heard of; it is let go, and another one starts (KPU370)`,
    ]);
  });

  test.each<[string, () => void, RegExp]>([
    ['is gone', () => world.client.remove(nodes, { name: 'host' }), /which is gone/],
    [
      'is out of service',
      () => {
        const taint = { key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' as const };
        change('host', () => ({ spec: { taints: [taint] }, status: ready('True') }));
      },
      /which is out of service/,
    ],
  ])('when its host %s', async (_, happen, words) => {
    happen();
    await pass(5);
    expect(isThere()).toBe(false);
    expect(told('KraftletReleased')[0]).toMatch(words);
  });

  test('when it never had a Lease', async () => {
    world.client.remove(leases, { namespace: 'kube-node-lease', name });
    await pass(5);
    expect(isThere()).toBe(false);
  });

  test('and another one starts, which the machine is given back by', async () => {
    await pass(5);
    await world.kraftlets.act();
    report('True');
    await pass(1);
    expect(own()).toHaveLength(1);
    expect(world.condition('KraftletDown')?.status).toBe('False');
  });
});

describe('is not let go', () => {
  test.each<[string, () => void]>([
    ['while its Kraftlet still renews the Lease', renew],
    ['while its Kraftlet reports that the machine does not answer it', () => report('False')],
    [
      'while its host is Ready: the kubelet ends it by itself',
      () => change('host', () => ({ status: ready('True') })),
    ],
    ['while its host is only ill', () => change('host', () => ({ status: ready('False') }))],
    [
      'while the machine is silent too',
      () => world.platform.silent.add(world.cloud.made[0]!.address),
    ],
    ['while the machine is degraded', () => void (world.platform.status = 'degraded')],
    [
      'where its Node asks not to be repaired',
      () =>
        change(name, ({ metadata }) => ({
          metadata: { ...metadata, annotations: { [annotations.doNotRepair]: 'true' } },
        })),
    ],
  ])('%s', async (_, meanwhile) => {
    await pass(9, meanwhile); // ten, and a machine that is silent is replaced
    expect(isThere()).toBe(true);
    expect(forced()).toEqual([]);
  });

  test('where the Lease may not be read', async () => {
    const denied = refusal(403, 'Forbidden', 'leases is forbidden');
    world.client.fail(
      ({ verb, plural }) => verb === 'get' && plural === 'leases',
      denied,
      Infinity,
    );
    await pass(15);
    expect(isThere()).toBe(true);
  });

  test('when its Kraftlet wakes up between two looks, and falls silent again at once', async () => {
    await pass(3);
    renew();
    await pass(2);
    expect(isThere()).toBe(true);
    await pass(1);
    expect(isThere()).toBe(false);
  });

  test('when its host comes back after the last look', async () => {
    await pass(4);
    const { metadata, ...rest } = world.client.peek(pods, old.metadata)!;
    let wrote = false; // the kubelet, while the proof is being taken
    const get = world.client.get.bind(world.client);
    world.client.get = async (resource, key, options) => {
      const found = await get(resource, key, options);
      if (key.name === 'host' && !wrote) {
        wrote = true;
        world.client.seed(pods, { ...rest, metadata, status: { phase: 'Running' } });
      }
      return found;
    };
    await world.round();
    expect(wrote).toBe(true);
    expect(isThere()).toBe(true);
    expect(told('KraftletReleased')).toEqual([]);
  });

  test('by a process that has not watched it long enough itself', async () => {
    await pass(3);
    world.restart();
    await pass(2);
    expect(isThere()).toBe(true);
    await pass(1);
    expect(isThere()).toBe(false);
  });

  test('before its own end is a minute past', async () => {
    const deletionTimestamp = new Date(world.clock.now() + minutes(5)).toISOString();
    const { metadata, ...rest } = world.client.peek(pods, old.metadata)!;
    world.client.seed(pods, { ...rest, metadata: { ...metadata, deletionTimestamp } });
    await pass(9); // stuck from the eighth on
    expect(isThere()).toBe(true);
    await pass(1);
    expect(isThere()).toBe(false);
  });
});
