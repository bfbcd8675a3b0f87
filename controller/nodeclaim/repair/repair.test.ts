import { beforeEach, describe, expect, test } from 'vitest';

import { Throttled } from '#machine/errors.ts';
import { nodeClaims, nodePools } from '#schemas/karpenter/types.ts';
import type { Node } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { nodes, pods, secrets, statefulSets } from '#schemas/kubernetes/resource.ts';
import { annotations, labels } from '#schemas/names.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';

import { ClaimWorld, noLeaks } from '../../testing/claim-world.ts';
import { condition, nodePool } from '../../testing/objects.ts';
import { refusal } from '../../testing/refusals.ts';

let world: ClaimWorld;
beforeEach(async () => {
  world = await ClaimWorld.make();
  await machine('web-1');
});

/** One that has been up for a while. */
async function machine(name: string): Promise<void> {
  await world.claim({}, name);
  await world.initialized(name);
  await world.clock.forward(minutes(2));
}

const claimOf = (name = 'web-1') => world.find(name);
const nodeOf = (name = 'web-1'): Live<Node> =>
  world.client.peek(nodes, { name: claimOf(name)?.status?.nodeName ?? '' })!;
const addressOf = (name = 'web-1'): string => {
  const uid = claimOf(name)?.metadata.uid;
  return world.cloud.made.find(({ request }) => request.identity.claimUid === uid)!.address;
};
const told = (reason: string): string[] =>
  world.notes.filter((note) => note.reason === reason).map(({ message }) => message);
const isLeaving = (name = 'web-1'): boolean =>
  claimOf(name)?.metadata.deletionTimestamp !== undefined;

function report(status: 'True' | 'False' | 'Unknown', name = 'web-1'): void {
  const node = nodeOf(name);
  const conditions = [condition('Ready', status, { message: 'Kraftlet stopped posting' })];
  world.client.seed(nodes, { ...node, status: { ...node.status, conditions } });
}

/** It runs, and nobody gets an answer from it. */
function silence(name = 'web-1'): void {
  world.platform.silent.add(addressOf(name));
  report('False', name);
}

/** A round each minute. */
async function pass(count: number): Promise<void> {
  for (let round = 0; round < count; round++) {
    // oxlint-disable-next-line no-await-in-loop -- one minute after the other
    await world.round();
    // oxlint-disable-next-line no-await-in-loop -- as above
    await world.clock.forward(minutes(1));
  }
  await world.round();
}

describe('a machine that is well', () => {
  test('costs no write and no event, however often it is looked at', async () => {
    const { writes } = world.client;
    const before = [writes.length, world.notes.length];
    await pass(30);
    expect([writes.length, world.notes.length]).toEqual(before);
  });

  test('is well also where only its Kraftlet reaches it: the fault is on our way to it', async () => {
    world.platform.silent.add(addressOf());
    await pass(30);
    expect(world.condition('MachineDown')).toBeUndefined();
    expect(isLeaving()).toBe(false);
  });
});

describe('a Kraftlet that is down before a machine that is well', () => {
  test('is told once, and the machine stays however long it lasts', async () => {
    report('Unknown');
    const { length } = world.client.writes;
    await pass(120);
    expect(world.condition('KraftletDown')).toMatchObject({
      status: 'True',
      reason: 'NodeNotReady',
      message: expect.stringMatching(
        /^The platform answers healthy, and Kraftlet keeps Node web-\w+ not Ready: .*\(KPU370\)$/,
      ) as string,
    });
    expect(isLeaving()).toBe(false);
    const claims = world.client.writes
      .slice(length)
      .filter(({ plural }) => plural === 'nodeclaims');
    expect(claims).toHaveLength(1);
    expect(told('KraftletDown')).toHaveLength(1);
  });

  test('is told as over when the Node is Ready again', async () => {
    report('Unknown');
    await pass(1);
    report('True');
    await pass(1);
    expect(world.condition('KraftletDown')).toMatchObject({ status: 'False', reason: 'Recovered' });
    expect(told('KraftletRecovered')).toEqual([
      `Kraftlet of Node ${nodeOf().metadata.name} is well again`,
    ]);
  });

  test('says what the cluster says about its Pod', async () => {
    report('Unknown');
    const [pod] = world.client.all(pods);
    const waiting = { reason: 'CrashLoopBackOff', message: 'back-off 5m' };
    const containerStatuses = [{ name: 'kraftlet', state: { waiting } }];
    world.client.seed(pods, { ...pod!, status: { ...pod!.status, containerStatuses } } as never);
    await world.round();
    expect(world.condition('KraftletDown')).toMatchObject({
      reason: 'KraftletCrashLoopBackOff',
      message: expect.stringMatching(/: Kraftlet Pod web-\w+-0: back-off 5m \(KPU370\)$/) as string,
    });
  });

  test('gets a release back that somebody scaled to nothing', async () => {
    const [set] = world.client.all(statefulSets);
    world.client.seed(statefulSets, {
      ...set!,
      metadata: { ...set!.metadata, generation: 2 },
      spec: { ...set!.spec!, replicas: 0 },
      status: { readyReplicas: 0 },
    });
    report('Unknown');
    await world.round();
    expect(world.client.all(statefulSets)[0]?.spec?.replicas).toBe(1);
    expect(told('KraftletRestored')[0]).toMatch(
      /^StatefulSet of Kraftlet release web-\w+ had been changed/,
    );
    await world.round();
    expect(told('KraftletRestored')).toHaveLength(1);
  });

  test('has its Pod replaced each five minutes, and not before', async () => {
    report('Unknown');
    const uids = new Set<string>();
    for (let minute = 0; minute < 16; minute++) {
      const [pod] = world.client.all(pods);
      if (pod) {
        uids.add(pod.metadata.uid);
        world.client.seed(pods, { ...pod, spec: { containers: [], nodeName: 'host' } });
      }
      await world.round();
      report('Unknown');
      await world.kraftlets.act(); // its StatefulSet makes another one
      report('Unknown');
      await world.clock.forward(minutes(1));
    }
    expect(uids.size).toBe(3);
    expect(told('KraftletRestarted')).toHaveLength(3);
  });

  test('has its release put back in the first minute and each fifth, not in between', async () => {
    report('Unknown');
    world.kraftlets.isPending = true;
    const { length } = world.client.writes;
    await pass(14);
    const patches = world.client.writes.slice(length).filter(({ plural }) => plural === 'services');
    expect(patches).toHaveLength(3);
  });

  test('whose claim leaves meanwhile gets nothing back', async () => {
    report('Unknown');
    world.caches.nodeClaims.fallBehind();
    await world.client.delete(nodeClaims, { name: 'web-1' });
    for (const { metadata } of world.client.all(statefulSets))
      world.client.remove(statefulSets, metadata);
    await world.round();
    expect(world.client.all(statefulSets)).toEqual([]);
  });
});

describe('a machine that is down while its instance runs', () => {
  test('is replaced after ten minutes of silence, at once, and leaves nothing', async () => {
    silence();
    await pass(9);
    expect(world.condition('MachineDown')).toMatchObject({
      status: 'True',
      reason: 'PlatformSilent',
    });
    expect(isLeaving()).toBe(false);
    await pass(1);
    expect(isLeaving()).toBe(true);
    const stamp = claimOf()?.metadata.annotations?.[annotations.terminationTimestamp];
    expect(world.clock.from(stamp ?? '')).toBeLessThanOrEqual(world.clock.now());
    expect(told('DisruptionTerminating')[0]).toMatch(
      /^Disrupting: Unhealthy, the machine is down for 10 min: connect ECONNREFUSED \S+ \(KPU380\)$/,
    );
    world.kraftlets.isNotReady = true;
    await world.gone();
    expect(world.leaks()).toEqual(noLeaks);
  });

  test('is replaced after half an hour when it answers that it is degraded, whatever its Node says', async () => {
    world.platform.status = 'degraded';
    await pass(29);
    expect(world.condition('MachineDown')).toMatchObject({ reason: 'PlatformSick' });
    expect(isLeaving()).toBe(false);
    await pass(1);
    expect(isLeaving()).toBe(true);
    const stamp = claimOf()?.metadata.annotations?.[annotations.terminationTimestamp] ?? '';
    expect(world.clock.from(stamp) - world.clock.now()).toBe(minutes(10));
  });

  test('has as little time to drain as its claim gives it', async () => {
    const claim = claimOf()!;
    world.client.seed(nodeClaims, {
      ...claim,
      spec: { ...claim.spec, terminationGracePeriod: '30s' },
    });
    world.platform.status = 'degraded';
    await pass(30);
    const stamp = claimOf()?.metadata.annotations?.[annotations.terminationTimestamp] ?? '';
    expect(world.clock.from(stamp) - world.clock.now()).toBe(seconds(30));
  });

  test('has its time anew when it was well in between', async () => {
    silence();
    await pass(8);
    world.platform.silent.clear();
    report('True');
    await pass(1);
    expect(told('MachineRecovered')).toHaveLength(1);
    silence();
    await pass(9);
    expect(isLeaving()).toBe(false);
  });

  test('that gets well just before its end is drained some day without haste', async () => {
    silence();
    await pass(9);
    await world.clock.forward(minutes(1));
    world.client.fail(
      ({ verb, plural }) => verb === 'delete' && plural === 'nodeclaims',
      refusal(500, 'Internal', 'no'),
    );
    await world.round();
    expect(claimOf()?.metadata.annotations).toHaveProperty([annotations.terminationTimestamp]);
    world.platform.silent.clear();
    report('True');
    await world.round();
    expect(claimOf()?.metadata.annotations).not.toHaveProperty([annotations.terminationTimestamp]);
    expect(isLeaving()).toBe(false);
  });

  test('stays where its Node asks for it, and says so', async () => {
    silence();
    const node = nodeOf();
    const metadata = { ...node.metadata, annotations: { [annotations.doNotRepair]: 'true' } };
    world.client.seed(nodes, { ...node, metadata });
    await pass(60);
    expect(isLeaving()).toBe(false);
    expect(told('NodeRepairBlocked')[0]).toMatch(
      /karpenter\.sh\/do-not-repair of its Node forbids it \(KPU390\)$/,
    );
  });

  test('stays where it belongs to no pool', async () => {
    const claim = claimOf()!;
    const { [labels.nodePool]: _, ...others } = claim.metadata.labels ?? {};
    world.client.seed(nodeClaims, { ...claim, metadata: { ...claim.metadata, labels: others } });
    silence();
    await pass(15);
    expect(isLeaving()).toBe(false);
    expect(told('NodeRepairBlocked')[0]).toMatch(/belongs to no NodePool/);
  });

  test('stays while the budgets of its pool allow nothing', async () => {
    const budgets = [{ nodes: '0' }];
    world.client.seed(nodePools, nodePool({ disruption: { budgets } } as never));
    silence();
    await pass(15);
    expect(isLeaving()).toBe(false);
    expect(told('NodeRepairBlocked')[0]).toMatch(
      /budgets allow no disruption for reason Unhealthy/,
    );
  });

  test('goes though a budget holds other reasons only', async () => {
    const budgets = [{ nodes: '0', reasons: ['Empty', 'Drifted', 'Underutilized'] }];
    world.client.seed(nodePools, nodePool({ disruption: { budgets } } as never));
    silence();
    await pass(15);
    expect(isLeaving()).toBe(true);
  });

  test('is not judged while the cloud cannot be asked, nor without its credentials', async () => {
    silence();
    world.cloud.findFailure = new Throttled('slower');
    await pass(15);
    expect(world.condition('MachineDown')).toBeUndefined();
    world.cloud.findFailure = undefined;
    for (const { metadata } of world.client.all(secrets)) world.client.remove(secrets, metadata);
    world.restart();
    await pass(15);
    expect(world.condition('MachineDown')).toBeUndefined();
  });
});

describe('of six machines of a pool', () => {
  beforeEach(async () => {
    for (const name of ['web-2', 'web-3', 'web-4', 'web-5', 'web-6']) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await machine(name);
    }
    world.client.seed(
      nodePools,
      nodePool({ disruption: { budgets: [{ nodes: '100%' }] } } as never),
    );
  });
  const leaving = (): number =>
    world.client.all(nodeClaims).filter(({ metadata }) => metadata.deletionTimestamp).length;

  test('two that are down are replaced: a fifth, rounded up', async () => {
    silence('web-1');
    silence('web-2');
    await pass(10);
    expect(leaving()).toBe(2);
  });

  test('three that are down are not: the fault is not theirs', async () => {
    ['web-1', 'web-2', 'web-3'].forEach(silence);
    await pass(60);
    expect(leaving()).toBe(0);
    expect(told('NodeRepairBlocked')[0]).toMatch(
      /3 of 6 machines of NodePool web are down together \(KPU390\)$/,
    );
  });

  test('two go one after the other where a budget allows one', async () => {
    world.client.seed(
      nodePools,
      nodePool({ disruption: { budgets: [{ nodes: '10%' }] } } as never),
    );
    silence('web-1');
    silence('web-2');
    await pass(15);
    expect(leaving()).toBe(1);
  });

  test('nor two in one round, when the cache has not heard of the first yet', async () => {
    const disruption = { budgets: [{ nodes: '10%' }] };
    world.client.seed(nodePools, nodePool({ disruption } as never));
    silence('web-1');
    silence('web-2');
    await pass(9);
    await world.clock.forward(minutes(2));
    world.caches.nodeClaims.fallBehind();
    await world.round();
    expect(leaving()).toBe(1);
  });

  test('none is replaced where each has a pool of its own and all are down', async () => {
    for (const { metadata, ...claim } of world.client.all(nodeClaims)) {
      const pool = `pool-${metadata.name}`;
      world.client.seed(nodePools, nodePool({}, pool));
      const own = { ...metadata.labels, [labels.nodePool]: pool };
      world.client.seed(nodeClaims, { ...claim, metadata: { ...metadata, labels: own } });
      silence(metadata.name);
    }
    await pass(60);
    expect(leaving()).toBe(0);
    expect(told('NodeRepairBlocked')[0]).toMatch(/6 of 6 machines of UnikraftNodeClass default/);
  });

  test('one that cannot be written keeps nobody else from being looked after', async () => {
    silence('web-1');
    silence('web-2');
    world.client.fail(
      ({ verb, key, plural }) => verb === 'patch' && plural === 'nodeclaims' && key === 'web-1',
      refusal(403, 'Forbidden', 'a policy says no'),
      Infinity,
    );
    await pass(10);
    expect(isLeaving('web-2')).toBe(true);
    expect(isLeaving('web-1')).toBe(false);
  });
});
