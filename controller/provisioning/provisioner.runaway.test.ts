import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { nodeClaims, nodePools, type NodeClaim } from '#schemas/karpenter/types.ts';
import type { Taint } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { nodes, pods } from '#schemas/kubernetes/resource.ts';
import { annotations, taints } from '#schemas/names.ts';
import { hours, minutes, seconds } from '#schemas/time/clock.ts';

import { World } from './testing/world.ts';

const chaos: Taint = { key: 'chaos.example.com/taint', value: 'true', effect: 'NoSchedule' };

let world: World;
/** Names of all claims that there ever were. */
let made: Set<string>;
beforeEach(() => {
  world = new World();
  made = new Set();
  world.seedPool('web');
});
afterEach(() => world.end());

/** Time goes on, and each machine that was asked for opens after a minute, as `open` has it. */
async function forward(span: number, open: (claim: Live<NodeClaim>) => void): Promise<void> {
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

function tainted(claim: Live<NodeClaim>): void {
  world.becomes(claim, 'Registered', 'Initialized');
  world.seedNode(claim, { taints: [taints.kraftlet, chaos] });
}

function tolerant(claim: Live<NodeClaim>): void {
  world.becomes(claim, 'Registered', 'Initialized');
  world.seedNode(claim);
}

function bind(name: string, claim: Live<NodeClaim>): void {
  const pod = world.client.peek(pods, { namespace: 'shop', name })!;
  const scheduled = { ...world.isTrue('PodScheduled') };
  world.client.seed(pods, {
    ...pod,
    spec: { ...pod.spec!, nodeName: claim.metadata.name },
    status: { phase: 'Running', conditions: [scheduled] },
  });
}

/** As kube-controller-manager does for a taint with NoExecute, and the Deployment after it. */
function evict(name: string, replacement: string): void {
  const pod = world.client.peek(pods, { namespace: 'shop', name })!;
  const target = {
    ...world.isTrue('DisruptionTarget'),
    reason: 'DeletionByTaintManager',
    message: 'Taint manager: deleting due to NoExecute taint',
  };
  world.client.seed(pods, { ...pod, status: { ...pod.status, conditions: [target] } });
  world.client.remove(pods, { namespace: 'shop', name });
  world.seedPod(replacement);
}

/** As Kraftlet does without live memory, and Kubernetes and the Deployment after it. */
function refuse(name: string, replacement: string, claim: Live<NodeClaim>): void {
  const key = { namespace: 'shop', name };
  const failed = { phase: 'Failed', reason: 'QuotaExceeded', message: 'no live memory' };
  world.client.seed(pods, { ...world.client.peek(pods, key)!, status: failed });
  world.client.remove(pods, key);
  const short = { key: 'node.kubernetes.io/memory-pressure', effect: 'NoSchedule' } as const;
  world.seedNode(claim, { taints: [taints.kraftlet, short] });
  world.seedPod(replacement);
}

/** It had Pods until ten minutes from now, and is cordoned. */
function served(claim: Live<NodeClaim>): void {
  world.becomes(claim, 'Registered', 'Initialized');
  world.seedNode(claim, { unschedulable: true });
  const now = world.client.peek(nodeClaims, { name: claim.metadata.name })!;
  const lastPodEventTime = new Date(world.clock.now() + minutes(10)).toISOString();
  world.client.seed(nodeClaims, { ...now, status: { ...now.status, lastPodEventTime } });
}

const conditionOf = (backedOff: ReturnType<World['start']>['backedOff']) =>
  backedOff.conditionsOf(world.client.peek(nodePools, { name: 'web' })!);

describe('F2 F3: a Pod whose machines all get a taint', () => {
  test('costs three of them, and the pool and the Pod say which taint', async () => {
    const { backedOff } = world.start();
    world.seedPod('a');
    await forward(minutes(13), tainted);
    expect(made.size).toBe(3);
    const last = [...made].at(-1);
    const { creationTimestamp = '' } = world.claims.at(-1)!.metadata;
    const turn = minutes(10) + Math.ceil(Date.parse(creationTimestamp) / minutes(1)) * minutes(1);
    const tenMinutesLater = `${new Date(turn).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
    const told = `3 machines were made for Pods like shop/a and none has one: Node ${last} has taint chaos.example.com/taint=true:NoSchedule, which they do not tolerate; the next is tried at ${tenMinutesLater} (KPU347)`;
    expect(conditionOf(backedOff)).toEqual([
      { type: 'ProvisioningBackoff', status: 'True', reason: 'PodsNotPlaced', message: told },
    ]);
    expect(world.notesOf('ProvisioningBackoff')).toMatchObject([{ message: told }]);
    expect(world.notesOf('FailedScheduling').at(-1)).toMatchObject({
      object: { metadata: { name: 'a' } },
      message: expect.stringMatching(/NodePool web: 3 machines .*chaos.example.com.*\(KPU347\)$/),
    });
  });

  test('is tried again after a pause that doubles', async () => {
    world.start();
    world.seedPod('a');
    await forward(hours(1), tainted);
    expect(made.size).toBe(5); // after 10 and 20 minutes more
  });

  test('costs three though each is removed as empty', async () => {
    world.start();
    world.seedPod('a');
    await forward(minutes(13), (claim) => {
      tainted(claim);
      world.clock.after(minutes(1), () => {
        const { name } = claim.metadata;
        world.client.remove(nodeClaims, { name });
        world.client.remove(nodes, { name });
      });
    });
    expect(made.size).toBe(3);
  });

  test('costs three though each has it for a moment', async () => {
    const { backedOff } = world.start();
    let count = 0;
    world.seedPod('a-0');
    await forward(minutes(13), (claim) => {
      tolerant(claim);
      bind(`a-${count}`, claim);
      world.clock.after(seconds(1), () => {
        const { name } = claim.metadata;
        evict(`a-${count}`, `a-${(count += 1)}`);
        world.client.remove(nodeClaims, { name });
        world.client.remove(nodes, { name });
      });
    });
    expect(made.size).toBe(3);
    expect(conditionOf(backedOff)).toMatchObject([
      { message: expect.stringMatching(/one was taken away again: Taint manager: deleting/) },
    ]);
  });

  test('costs three where Kraftlet refuses it, and says so', async () => {
    const { backedOff } = world.start();
    let count = 0;
    world.seedPod('a-0');
    await forward(minutes(13), (claim) => {
      tolerant(claim);
      bind(`a-${count}`, claim);
      world.clock.after(seconds(1), () => refuse(`a-${count}`, `a-${(count += 1)}`, claim));
    });
    expect(made.size).toBe(3);
    expect(conditionOf(backedOff)).toMatchObject([
      { message: expect.stringMatching(/Kraftlet refused one \(QuotaExceeded\): no live memory;/) },
    ]);
  });

  test('costs three whichever leader counts', async () => {
    const first = world.start();
    world.seedPod('a');
    await forward(minutes(5), tainted);
    const before = made.size;
    first.kill();
    world.start();
    await forward(minutes(7), tainted);
    expect([before, made.size]).toEqual([expect.toSatisfy((size) => size >= 1 && size < 3), 3]);
  });

  test('is not in the way of others that tolerate it', async () => {
    world.start();
    world.seedPod('a');
    await forward(minutes(8), tainted);
    const tolerations = [taints.kraftlet, chaos].map(({ key }) => ({
      key,
      operator: 'Exists' as const,
    }));
    world.seedPod('b', { cpu: '7' }, { spec: { tolerations } });
    await forward(minutes(2), tainted);
    expect(made.size).toBe(4);
  });
});

describe('the wait ends at once', () => {
  beforeEach(async () => {
    world.start();
    world.seedPod('a');
    await forward(minutes(8), tainted);
  });

  test('when the pool changes', async () => {
    const pool = world.client.peek(nodePools, { name: 'web' })!;
    const generation = (pool.metadata.generation ?? 0) + 1;
    const conditions = [world.isTrue('Ready', generation)];
    const metadata = { ...pool.metadata, generation };
    expect(made.size).toBe(3);
    world.client.seed(nodePools, { ...pool, metadata, status: { conditions } });
    await forward(minutes(2), tolerant);
    expect(made.size).toBe(4);
  });

  test('when a Pod got its place: all that was in vain is forgotten', async () => {
    const claim = world.claims[0]!;
    tolerant(claim); // the taint is taken off
    bind('a', claim);
    await forward(minutes(6), tainted);
    world.seedPod('thief', { cpu: '3' }, { spec: { nodeName: claim.metadata.name } });
    world.seedPod('b');
    await forward(minutes(8), tainted);
    expect(made.size).toBe(6); // three more
  });
});

describe('machines that are of use are never counted', () => {
  test('a hundred Pods of one kind get a hundred machines', async () => {
    world.start();
    for (let index = 0; index < 100; index++) world.seedPod(`p-${index}`, { cpu: '7' });
    await world.clock.forward(minutes(1));
    expect(world.claims).toHaveLength(100);
  });

  test('Pods that came a moment ago count as placed', async () => {
    world.start();
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      world.seedPod(name, { cpu: '4' });
      // oxlint-disable-next-line no-await-in-loop -- one Pod after the other is the point
      await forward(seconds(61), (claim) => {
        tolerant(claim);
        bind(name, claim);
      });
    }
    expect(made.size).toBe(5);
  });

  test('machines that served before a leader came are not held against their Pods', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      const { kill } = world.start();
      world.seedPod(name);
      // oxlint-disable-next-line no-await-in-loop -- one leader after the other is the point
      await world.clock.forward(minutes(1));
      for (const claim of world.claims.filter(({ status }) => !status)) served(claim);
      world.client.remove(pods, { namespace: 'shop', name });
      kill();
    }
    expect(world.claims).toHaveLength(5);
  });

  test('Pods that end, or that their owner takes back, had their place', async () => {
    world.start();
    let count = 0;
    world.seedPod('a-0');
    await forward(minutes(20), (claim) => {
      tolerant(claim);
      bind(`a-${count}`, claim);
      world.clock.after(seconds(1), () => {
        const { name } = claim.metadata;
        world.client.remove(pods, { namespace: 'shop', name: `a-${count}` });
        world.client.remove(nodeClaims, { name });
        world.client.remove(nodes, { name });
        world.seedPod(`a-${(count += 1)}`);
      });
    });
    expect(made.size).toBeGreaterThan(6);
  });
});

test('a claim says for which Pods it was made, from which generation of its pool', async () => {
  world.start();
  world.seedPod('a');
  world.seedPod('b');
  world.seedPod('c', { cpu: '500m' });
  await world.clock.forward(seconds(2));
  const [claim] = world.claims;
  expect(claim?.metadata.annotations?.[annotations.madeFor]).toMatch(
    /^1 shop\/[0-9a-f]{10} shop\/[0-9a-f]{10}$/,
  );
});
