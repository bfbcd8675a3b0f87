/** Machines that come to grief under a Pod of a StatefulSet and one of a DaemonSet that tolerates everything. */
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';

import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import type { KubeObject, Live } from '#schemas/kubernetes/meta.ts';
import { nodes, pods, statefulSets } from '#schemas/kubernetes/resource.ts';
import { labels } from '#schemas/names.ts';
import { parseProviderID } from '#schemas/provider-id.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';
import { Endings } from '#test/world/endings.ts';
import { nodeClass, nodePool, workload } from '#test/world/objects.ts';
import { readyOf, unheardOf } from '#test/world/reports.ts';
import { Suspension } from '#test/world/suspension.ts';
import { TestWorld } from '#test/world/test-world.ts';

let world: TestWorld;
let endings: Endings;
const kraftlets = new Suspension();

beforeAll(async () => {
  world = await TestWorld.start(inject('tools'), { between: kraftlets.between });
  const values = { kraftlet: { env: { SANDBOX_NODE_STATUS_INTERVAL: '1s' } } };
  const { kraftlet } = nodeClass().spec;
  await world.expectUsable(nodeClass({ kraftlet: { ...kraftlet, values } }));
  await world.expectApplied(everywhere);
  endings = await Endings.watch(world.client);
});
afterEach(async () => {
  await world.expectDeleted(shop(0), nodePool(), ...(await world.claims()));
  await world.expectNoLeaks();
});
afterAll(async () => {
  await endings?.stop();
  await world?.stop();
});

const shop = (replicas: number) => workload('StatefulSet', 'shop', replicas);

test('its instance is terminated in the cloud: both Pods go before the Node, and one runs elsewhere', async () => {
  const before = await machine();
  const { claim } = before;
  world.cloud.ec2.instances.terminate(instanceOf(claim));

  await world.clock.forward(seconds(80)); // by now its absence is no delay of the cloud

  await expectReplaced(before, 'InstanceEnded');
  expect(world.cloud.ec2.instances.live).toHaveLength(1);
});

test('only its process dies, and the instance runs on: the same', async () => {
  const before = await machine();
  const { claim } = before;
  await world.clock.forward(minutes(2)); // it has been well for a while

  world.cloud.machines.powerOff(instanceOf(claim));

  await world.eventually('a Node that is not Ready', async () => {
    const ready = await readyOf(world.client, claim.status?.nodeName);
    return ready?.status === 'False';
  });
  await world.clock.forward(minutes(1));
  const { message } = await world.expectCondition(claim, 'MachineDown', { status: 'True' });
  expect(message).toMatch(/ECONNREFUSED \(KPU380\)$/);
  expect(world.cloud.ec2.instances.get(instanceOf(claim))?.state).toBe('running');
  await world.clock.forward(minutes(11));
  await world.eventually('told to go', async () => {
    await world.clock.forward(seconds(20)); // Pods that nobody ends are not waited for longer than a minute
    return (await world.claim(claim)).metadata.deletionTimestamp;
  });
  await world.clock.forward(minutes(2));

  await expectReplaced(before, 'DisruptionTerminating');
  expect(world.cloud.ec2.instances.get(instanceOf(claim))?.state).toBe('terminated');
});

test('only its Kraftlet is down, scaled to nothing by hand: it comes back, and machine and Pods stay', async () => {
  const { claim, guests } = await machine();
  await world.clock.forward(minutes(2));
  const labelSelector = `${labels.claimUid}=${claim.metadata.uid}`;
  const { items: sets } = await world.client.list(statefulSets, { labelSelector });
  const { name = '' } = sets[0]?.metadata ?? {};

  const none = { type: 'merge', body: { spec: { replicas: 0 } } } as const;
  await world.client.patch(statefulSets, { namespace: 'kraftlet', name }, none);
  await world.eventually('no Kraftlet', async () => {
    const { items } = await world.client.list(pods, { labelSelector });
    return items.length === 0;
  });
  await unheardOf(world.client, claim.status?.nodeName);
  await world.clock.forward(minutes(1));

  await world.expectEvent(claim, 'KraftletDown');
  await world.expectEvent(claim, 'KraftletRestored');
  await world.eventually('a Node that is Ready', async () => {
    return (await readyOf(world.client, claim.status?.nodeName))?.status === 'True';
  });
  await world.clock.forward(minutes(1));
  await world.expectCondition(claim, 'KraftletDown', { status: 'False', reason: 'Recovered' });
  const [still] = await world.expectRunning('shop', 1);
  expect(still?.metadata.uid).toBe(guests[0]?.metadata.uid);
  expect(await world.expectClaims(1)).toMatchObject([{ metadata: { uid: claim.metadata.uid } }]);
});

test('its Kraftlet is on a host that is lost: another one comes, and the first is no Kraftlet any more when it wakes', async () => {
  const { claim, guests } = await machine();
  await world.clock.forward(minutes(2));
  const old = await kraftletOf(claim);
  const { uid } = old.metadata;
  await world.startHost('spare');
  const { host } = world.world;
  host.cutOff();
  await unheardOf(world.client, host.name);
  const key = { namespace: 'kraftlet', name: old.metadata.name };
  await world.client.delete(pods, key, { uid, gracePeriodSeconds: 1 });

  await world.clock.forward(minutes(5)); // it still serves its machine, whatever its host says
  expect((await kraftletOf(claim)).metadata.uid).toBe(uid);

  await kraftlets.suspend(uid);
  await unheardOf(world.client, claim.status?.nodeName);
  await world.eventually('another Kraftlet', async () => {
    await world.clock.forward(seconds(30));
    const { metadata, spec, status } = await kraftletOf(claim);
    return metadata.uid !== uid && spec?.nodeName === 'spare' && status?.phase === 'Running';
  });
  const { message } = await world.expectEvent(claim, 'KraftletReleased');
  expect(message).toMatch(/stuck on host host, which has not been heard of; .*\(KPU370\)$/);
  await world.eventually('a Node that is Ready', async () => {
    return (await readyOf(world.client, claim.status?.nodeName))?.status === 'True';
  });

  kraftlets.wake(uid);
  await world.eventually('the first refused', async () => kraftlets.answersTo(uid).includes(401));
  await world.expectDeleted(...guests.slice(0, 1)); // which only a Kraftlet can have end
  await world.eventually('another Pod', async () => {
    const [pod] = await world.expectRunning('shop', 1);
    return pod?.metadata.uid !== guests[0]?.metadata.uid;
  });
  expect(await world.expectClaims(1)).toMatchObject([{ metadata: { uid: claim.metadata.uid } }]);
  const late = kraftlets.answersTo(uid);
  expect(late.slice(late.indexOf(401))).not.toContain(200);
});

/** It would be on every node, whatever taint it has. */
const everywhere: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'everywhere' },
  spec: {
    selector: { matchLabels: { app: 'everywhere' } },
    template: {
      metadata: { labels: { app: 'everywhere' } },
      spec: {
        nodeSelector: { [labels.virtualKubelet]: 'true' },
        tolerations: [{ operator: 'Exists' }],
        containers: [{ name: 'agent', image: 'agent:1', resources: { requests: { cpu: '10m' } } }],
      },
    },
  },
} as KubeObject;

/** A machine with both Pods running: that of the StatefulSet first. */
async function machine() {
  await world.expectApplied(nodePool(), shop(1));
  const [made] = await world.expectClaims(1);
  await world.expectCondition(made!, 'Initialized', { status: 'True' });
  const guests = [
    ...(await world.expectRunning('shop', 1)),
    ...(await world.expectRunning('everywhere', 1)),
  ];
  const claim = await world.claim(made!);
  const node = await world.client.get(nodes, { name: claim.status?.nodeName ?? '' });
  return { claim, node, guests };
}

async function expectReplaced(
  { claim, node, guests }: Awaited<ReturnType<typeof machine>>,
  reason: string,
): Promise<void> {
  await world.expectGone(claim, { reason });
  const [after] = await world.expectRunning('shop', 1);
  expect(after?.metadata.uid).not.toBe(guests[0]?.metadata.uid);
  const [next] = await world.expectClaims(1);
  expect(next?.metadata.uid).not.toBe(claim.metadata.uid);
  expect(after?.spec?.nodeName).toBe((await world.claim(next!)).status?.nodeName);
  const gone = endings.of(node);
  expect(gone).toBeDefined();
  for (const guest of guests) expect(endings.of(guest)).toBeLessThan(gone!);
}

async function kraftletOf({ metadata }: Live<NodeClaim>): Promise<Live<Pod>> {
  const labelSelector = `${labels.claimUid}=${metadata.uid}`;
  const { items } = await world.client.list(pods, { labelSelector });
  if (!items[0]) throw new Error('no Kraftlet');
  return items[0];
}

const instanceOf = ({ status }: NodeClaim): string =>
  parseProviderID(status?.providerID ?? '')?.id ?? '';
