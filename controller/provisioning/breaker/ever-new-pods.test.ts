import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { nodeClaims, nodePools, type NodeClaim } from '#schemas/karpenter/types.ts';
import type { Taint } from '#schemas/kubernetes/core.ts';
import type { Live, ResourceList } from '#schemas/kubernetes/meta.ts';
import { nodes, pods } from '#schemas/kubernetes/resource.ts';
import { taints } from '#schemas/names.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';

import { World } from '../testing/world.ts';

const chaos: Taint = { key: 'chaos.example.com/taint', value: 'true', effect: 'NoSchedule' };
const kraftlet = { key: taints.kraftlet.key, operator: 'Exists' as const };
const immune = {
  spec: { tolerations: [kraftlet, { key: chaos.key, operator: 'Exists' as const }] },
};

type Open = (claim: Live<NodeClaim>) => void;

let world: World;
/** Names of all claims that there ever were. */
let made: Set<string>;
let count: number;
beforeEach(() => {
  world = new World();
  made = new Set();
  count = 0;
  world.seedPool('web');
});
afterEach(() => world.end());

/** Time goes on, and each machine opens within the minute after the one in which it was asked for. */
async function forward(span: number, open: Open): Promise<void> {
  for (let left = span; left > 0; left -= minutes(1)) {
    const before = new Set(world.claims.map(({ metadata }) => metadata.name));
    // oxlint-disable-next-line no-await-in-loop -- one minute after the other is the point
    await world.clock.forward(Math.min(left, minutes(1)));
    for (const claim of world.claims.filter(({ metadata }) => before.has(metadata.name))) {
      if (!made.has(claim.metadata.name)) open(claim);
      made.add(claim.metadata.name);
    }
  }
}

const opens =
  (taint: Taint | undefined): Open =>
  (claim) => {
    world.becomes(claim, 'Registered', 'Initialized');
    world.seedNode(claim, { taints: [taints.kraftlet, ...(taint ? [taint] : [])] });
  };
const tainted = opens(chaos);

/** A Pod of a size that there never was before. */
function newPod(parts: Parameters<World['seedPod']>[2] = {}): string {
  count += 1;
  world.seedPod(`p-${count}`, sizeOf(count), parts);
  return `p-${count}`;
}

async function onePodAMinute(times: number, open: Open): Promise<void> {
  for (let minute = 0; minute < times; minute++) {
    newPod();
    // oxlint-disable-next-line no-await-in-loop -- one Pod after the other is the point
    await forward(minutes(1), open);
  }
}

const sizeOf = (number: number): ResourceList => ({ cpu: `${1000 + number}m` });

function remove(name: string): void {
  world.client.remove(pods, { namespace: 'shop', name });
}

/** As when a machine that is empty is taken away: it is asked for, and then it is so. */
function leave(claim: Live<NodeClaim>): void {
  const { name } = claim.metadata;
  const there = world.client.peek(nodeClaims, { name })!;
  const deletionTimestamp = world.clock.stamp();
  world.client.seed(nodeClaims, { ...there, metadata: { ...there.metadata, deletionTimestamp } });
  world.client.remove(nodeClaims, { name });
  world.client.remove(nodes, { name });
}

function bind(name: string, claim: Live<NodeClaim>): void {
  const pod = world.client.peek(pods, { namespace: 'shop', name })!;
  world.client.seed(pods, {
    ...pod,
    spec: { ...pod.spec!, nodeName: claim.metadata.name },
    status: { phase: 'Running', conditions: [world.isTrue('PodScheduled')] },
  });
}

const told = (backedOff: ReturnType<World['start']>['backedOff']) =>
  backedOff.conditionsOf(world.client.peek(nodePools, { name: 'web' })!)[0]?.message;

describe('Pods of ever new sizes that one taint keeps off', () => {
  test('cost three machines, and the last of them hears what it has in common with the others', async () => {
    const { backedOff } = world.start();
    await onePodAMinute(12, tainted);
    expect(made.size).toBe(3);
    expect(told(backedOff)).toMatch(
      /3 machines are of no use to Pods like shop\/p-\d+, whatever Pods they were made for: Node web-\w+ has taint chaos\.example\.com\/taint=true:NoSchedule, which they do not tolerate; the next is tried at .* UTC.* \(KPU347\)$/,
    );
    expect(world.notesOf('FailedScheduling').at(-1)).toMatchObject({
      message: expect.stringMatching(/3 machines are of no use to Pods like this one.*\(KPU347\)$/),
    });
  });

  test('cost one more at each pause, over two hours', async () => {
    world.start();
    await onePodAMinute(120, tainted);
    expect(made.size).toBe(6); // after 10, 20 and 40 minutes more; the next would be at 143
  });

  test('cost three though each Pod is taken back, and its machine with it', async () => {
    world.start();
    for (let round = 0; round < 5; round++) {
      const name = newPod();
      // oxlint-disable-next-line no-await-in-loop -- one Pod after the other is the point
      await forward(minutes(1), (claim) => {
        tainted(claim);
        world.clock.after(seconds(5), () => leave(claim));
        remove(name);
      });
      remove(name);
      await forward(minutes(1), tainted); // oxlint-disable-line no-await-in-loop
    }
    expect(made.size).toBe(3);
  });

  test('cost three whichever leader counts', async () => {
    for (let leader = 0; leader < 6; leader++) {
      const { kill } = world.start();
      newPod();
      await forward(minutes(2), tainted); // oxlint-disable-line no-await-in-loop -- one leader after the other
      kill();
    }
    expect(made.size).toBe(3);
  });

  test('are stopped by the key of the taint, be its value another each time', async () => {
    world.start();
    for (let minute = 0; minute < 12; minute++) {
      newPod();
      // oxlint-disable-next-line no-await-in-loop -- one Pod after the other is the point
      await forward(minutes(1), opens({ ...chaos, value: String(minute) }));
    }
    expect(made.size).toBe(3);
  });

  test('leave the pool to Pods that tolerate it', async () => {
    world.start();
    await onePodAMinute(6, tainted);
    expect(made.size).toBe(3);
    world.seedPod('immune', { cpu: '7' }, immune);
    await forward(minutes(2), tainted);
    expect(made.size).toBe(4);
  });

  test('are served again as soon as the Nodes show it no more', async () => {
    world.start();
    await onePodAMinute(6, tainted);
    for (const claim of world.claims) opens(undefined)(claim); // somebody took it off
    world.seedPod('large', { cpu: '7' });
    await forward(minutes(2), opens(undefined));
    expect(made.size).toBe(4);
  });

  test('are served again once one of them got its place', async () => {
    world.start();
    await onePodAMinute(6, tainted);
    const [claim] = world.claims;
    opens(undefined)(claim!);
    bind('p-1', claim!);
    await forward(minutes(6), tainted);
    world.seedPod('large', { cpu: '7' });
    await forward(minutes(2), opens(undefined));
    expect(made.size).toBe(4);
  });

  test('are not held back by one Node that somebody tainted, where others open without it', async () => {
    world.start();
    let opened = 0;
    const open: Open = (claim) => opens((opened += 1) === 1 ? chaos : undefined)(claim);
    for (let round = 0; round < 8; round++) {
      world.seedPod(`large-${round}`, { cpu: `${6000 + round}m` });
      await forward(minutes(2), open); // oxlint-disable-line no-await-in-loop -- one Pod after the other
    }
    expect(made.size).toBeGreaterThanOrEqual(8);
  });
});

test('a hundred Pods that have rested get one machine, and no other before it has opened', async () => {
  world.start();
  for (let index = 0; index < 100; index++) world.seedPod(`p-${index}`, { cpu: '7' });
  await forward(minutes(2), tainted);
  expect(made.size).toBe(100); // a burst is one try
  await forward(minutes(9), tainted);
  expect(made.size).toBe(100);
  await world.clock.forward(minutes(5)); // nothing opens in these, and passes come by
  expect(world.claims.length).toBe(101);
});
