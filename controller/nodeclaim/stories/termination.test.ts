import { beforeEach, expect, test } from 'vitest';

import {
  CreateError,
  DnsUnavailable,
  NodeClassError,
  TerminationRefused,
} from '#machine/errors.ts';
import { nodeClaims } from '#schemas/karpenter/types.ts';
import { nodes, podDisruptionBudgets, pods } from '#schemas/kubernetes/resource.ts';
import { annotations, finalizers, taints } from '#schemas/names.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';

import { ClaimWorld, noLeaks } from '../../testing/claim-world.ts';
import { ourRef, pod } from '../../testing/objects.ts';
import { refusal } from '../../testing/refusals.ts';

let world: ClaimWorld;
beforeEach(async () => {
  world = await ClaimWorld.make();
});

/** A machine that runs, with a guest on it. */
async function runningWith(
  guest: Parameters<typeof pod>[1] = {},
  spec: { terminationGracePeriod?: string } = {},
): Promise<void> {
  await world.claim({ spec: { nodeClassRef: ourRef, requirements: [], ...spec } });
  await world.initialized();
  world.bindPod('cart-0', guest);
  await world.look();
  expect(guestNow()?.metadata.finalizers).toContain(finalizers.kraftletPod);
}

const guestNow = () => world.client.peek(pods, { namespace: 'shop', name: 'cart-0' });
const refuseEvictions = (code: number, reason: string, times = 1000): void =>
  world.client.fail(
    ({ subresource }) => subresource === 'eviction',
    refusal(code, reason, 'not now'),
    times,
  );
const told = (reason: string): string | undefined =>
  world.notes.find((note) => note.reason === reason)?.message;
/** The first write of each kind, in order: what goes before what. */
const orderOf = (wanted: readonly string[]): string[] =>
  [...new Set(world.wire.passed)].filter((point) => wanted.includes(point));

test('a machine goes in order: Pods, Kraftlet, name, instance, Node', async () => {
  await runningWith();
  world.wire.passed.length = 0;
  const before = world.client.calls.length;
  await world.delete();
  await world.gone();
  expect(
    orderOf(['api.createSubresource before', 'dns.remove before', 'cloud.terminate before']),
  ).toEqual(['api.createSubresource before', 'dns.remove before', 'cloud.terminate before']);
  const deleted = world.client.calls
    .slice(before)
    .filter(({ verb }) => verb === 'delete')
    .map(({ plural }) => plural);
  expect(deleted.indexOf('statefulsets')).toBeLessThan(deleted.indexOf('nodes'));
  expect(deleted.indexOf('nodes')).toBeLessThan(deleted.lastIndexOf('secrets'));
  expect(world.leaks()).toEqual(noLeaks);
});

test('nothing more is taken away while the Kraftlet Pod is there: it could make its Node again', async () => {
  await world.claim();
  await world.initialized();
  await world.delete();
  for (let pass = 0; pass < 5; pass++) await world.pass();
  expect(world.dns.records.size).toBeGreaterThan(0);
  expect(world.nodes).toHaveLength(1);
  await world.kraftlets.act(); // the Pod goes
  await world.pass();
  expect(world.dns.records.size).toBe(0);
});

test('a claim that is deleted while its launch is under way ends as soon as its instance has', async () => {
  await world.claim();
  world.cloud.launchFaults.push('answer lost');
  await world.pass();
  expect(world.wire.passed).not.toContain('cloud.launch after');
  await world.delete();
  const began = world.clock.now();
  await world.gone();
  expect(world.clock.now() - began).toBeLessThan(seconds(20));
  expect(world.cloud.made).toHaveLength(1);
});

test('its Node is closed before the first Pod is asked to leave', async () => {
  await runningWith();
  refuseEvictions(429, 'TooManyRequests');
  await world.delete();
  await world.pass();
  expect(world.nodes[0]?.spec?.taints).toContainEqual(taints.disrupted);
});

/** A PodDisruptionBudget for the Pods that carry `app`. */
const budget = (name: string, app: string): void => {
  const spec = { selector: { matchLabels: { app } }, maxUnavailable: 0 };
  world.client.seed(podDisruptionBudgets, { metadata: { name, namespace: 'shop' }, spec });
};

test('a budget holds a Pod, and the machine with it, until it gives way', async () => {
  await runningWith({ metadata: { labels: { app: 'cart' } } });
  budget('cart', 'cart');
  budget('other', 'search');
  refuseEvictions(429, 'TooManyRequests', 30);
  await world.delete();
  for (let second = 0; second < 30; second++) await world.pass();
  expect(world.condition('Drained')).toMatchObject({
    reason: 'Draining',
    message:
      'Waiting for Pods to leave: shop/cart-0. shop/cart-0 cannot leave yet: ' +
      'PodDisruptionBudget cart allows no eviction now (KPU402)',
  });
  expect(told('FailedDraining')).toBe(
    'Pod shop/cart-0 cannot leave yet: PodDisruptionBudget cart allows no eviction now (KPU402)',
  );
  expect(world.cloud.alive).toHaveLength(1);
  await world.gone();
  expect(world.leaks()).toEqual(noLeaks);
});

test('one Pod under two budgets keeps no other Pod from leaving', async () => {
  await runningWith({ metadata: { labels: { app: 'cart' } } });
  budget('cart', 'cart');
  budget('cart-too', 'cart');
  world.bindPod('cart-1');
  world.client.fail(
    ({ subresource, key }) => subresource === 'eviction' && key === 'shop/cart-0',
    refusal(500, 'InternalError', 'more than one PodDisruptionBudget'),
    1000,
  );
  await world.delete();
  await world.look();
  await world.look();
  expect(world.client.all(pods).map(({ metadata }) => metadata.name)).not.toContain('cart-1');
  expect(told('FailedDraining')).toBe(
    'Pod shop/cart-0 cannot leave yet: PodDisruptionBudgets cart and cart-too select it, and only one may (KPU405)',
  );
});

test('do-not-disrupt holds a Pod until the grace period of the claim leaves only its own', async () => {
  const metadata = { annotations: { [annotations.doNotDisrupt]: 'true' } };
  const spec = { containers: [], terminationGracePeriodSeconds: 60 };
  await runningWith({ metadata, spec }, { terminationGracePeriod: '5m' });
  await world.delete();
  await world.pass();
  expect(world.find()?.metadata.annotations?.[annotations.terminationTimestamp]).toBe(
    new Date(world.clock.now() + minutes(5)).toISOString().replace('.000Z', 'Z'),
  );
  await world.clock.forward(minutes(4) - seconds(1));
  await world.pass();
  expect(told('FailedDraining')).toContain(
    'its annotation karpenter.sh/do-not-disrupt holds it (KPU401)',
  );
  expect(guestNow()?.metadata.deletionTimestamp).toBeUndefined();
  await world.clock.forward(seconds(1));
  await world.pass();
  expect(guestNow()?.metadata.deletionTimestamp).toBeDefined();
  const deletion = world.client.calls.findLast(({ verb }) => verb === 'delete');
  expect(deletion?.body).toMatchObject({ gracePeriodSeconds: 60 });
});

test('past the deadline a budget holds nobody', async () => {
  await runningWith({}, { terminationGracePeriod: '1m' });
  refuseEvictions(429, 'TooManyRequests');
  await world.delete();
  await world.pass();
  await world.clock.forward(minutes(1));
  await world.gone();
  expect(world.leaks()).toEqual(noLeaks);
});

test('a Pod that leaves too slowly for the deadline is hurried', async () => {
  await runningWith({}, { terminationGracePeriod: '1m' });
  const guest = guestNow();
  if (!guest) throw new Error('no guest');
  const inAnHour = new Date(world.clock.now() + minutes(60)).toISOString();
  await world.delete();
  world.client.seed(pods, {
    ...guest,
    metadata: { ...guest.metadata, deletionTimestamp: inAnHour },
  });
  await world.pass();
  const deletion = world.client.calls.findLast(({ verb }) => verb === 'delete');
  expect(deletion).toMatchObject({ key: 'shop/cart-0', body: { gracePeriodSeconds: 60 } });
});

test('Pods of a machine that died are not asked but freed', async () => {
  await runningWith();
  refuseEvictions(429, 'TooManyRequests');
  const [instance] = world.cloud.made;
  if (instance) world.cloud.kill(instance);
  await world.delete();
  await world.gone();
  expect(guestNow()).toBeUndefined();
  expect(world.leaks()).toEqual(noLeaks);
});

test('a Kraftlet Pod that is stuck on a lost host is let go once the instance has ended, and not before', async () => {
  await world.claim();
  await world.initialized();
  const [pod] = world.client.all(pods);
  const metadata = {
    ...pod!.metadata,
    deletionTimestamp: world.clock.stamp(),
    deletionGracePeriodSeconds: 30,
  };
  world.client.seed(pods, { ...pod!, metadata, spec: { containers: [], nodeName: 'host' } });
  const aliveThen: number[] = [];
  world.client.onChange(({ type, resource }) => {
    if (type === 'DELETED' && resource.plural === 'pods') aliveThen.push(world.cloud.alive.length);
  });
  await world.delete();
  await world.gone();
  expect(aliveThen).toEqual([0]);
  expect(world.client.all(pods)).toEqual([]);
  expect(world.leaks()).toEqual(noLeaks);
});

test('a Pod that somebody else wrote to is freed at the next look, before its Node goes', async () => {
  await runningWith();
  const [instance] = world.cloud.made;
  if (instance) world.cloud.kill(instance);
  const conflict = refusal(409, 'Conflict', 'somebody else wrote');
  world.client.fail(({ verb, plural }) => verb === 'patch' && plural === 'pods', conflict, 3);
  await world.delete();
  await world.gone();
  expect(guestNow()).toBeUndefined();
});

test('a DaemonSet that makes its Pod again and again does not keep the Node', async () => {
  await world.claim();
  await world.initialized();
  const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'logs', uid: 'ds' }];
  const nodeName = world.nodes[0]?.metadata.name ?? '';
  const born = {
    ...pod('logs-0', { metadata: { ownerReferences } }),
    status: { phase: 'Pending' },
  };
  const again = (): void => {
    const isThere = world.client.peek(pods, { namespace: 'shop', name: 'logs-0' });
    const hasNode = world.client.peek(nodes, { name: nodeName });
    if (!isThere && hasNode)
      world.client.seed(pods, { ...born, spec: { containers: [], nodeName } });
  };
  again();
  await world.look();
  world.client.onChange(({ type, resource }) => {
    if (type === 'DELETED' && resource.plural === 'pods') again();
  });
  await world.delete();
  await world.gone();
  expect(world.nodes).toEqual([]);
});

test('a Pod that Kraftlet took last, and the cache has not seen, is freed too', async () => {
  await world.claim();
  await world.initialized();
  await world.delete();
  await world.until(() => world.condition('InstanceTerminated') !== undefined);
  world.caches.pods.fallBehind();
  world.bindPod('cart-0', { metadata: { finalizers: [finalizers.kraftletPod] } });
  await world.gone();
  expect(guestNow()).toBeUndefined();
});

test('a Node that Kraftlet made last, and the cache has not seen, goes too', async () => {
  world.caches.nodes.fallBehind();
  await world.claim();
  await world.until(() => world.nodes.length > 0);
  await world.delete();
  await world.gone();
  expect(world.nodes).toEqual([]);
});

test('a claim that somebody took the intent from still ends its machine', async () => {
  await runningWith();
  const body = { metadata: { annotations: { [annotations.intent]: null } } };
  await world.client.patch(nodeClaims, { name: 'web-1' }, { type: 'merge', body });
  await world.delete();
  await world.gone();
  expect(told('Evicted')).toBeDefined();
  expect(world.leaks()).toEqual(noLeaks);
});

test('an instance that may not be ended keeps its claim, and a person is told', async () => {
  await runningWith();
  world.cloud.terminateFailure = new TerminationRefused('disableApiTermination is set');
  await world.delete();
  await world.until(() => world.condition('InstanceTerminated')?.reason === 'TerminationRefused');
  expect(await world.pass()).toBe(minutes(1));
  expect(told('FailedTermination')).toBe('disableApiTermination is set (KPU331)');
  world.cloud.terminateFailure = undefined;
  await world.gone();
  expect(world.leaks()).toEqual(noLeaks);
});

test('a cloud that cannot be asked proves nothing', async () => {
  await runningWith();
  await world.delete();
  world.cloud.findFailure = new CreateError('InternalError', 'try later', 'retry');
  for (let look = 0; look < 10; look++) await world.look();
  expect(world.find()).toBeDefined();
  expect(world.nodes).toHaveLength(1);
  world.cloud.findFailure = undefined;
  await world.gone();
  expect(world.leaks()).toEqual(noLeaks);
});

test('a zone that is away holds the end up and is told; one that is gone does not', async () => {
  await runningWith();
  world.dns.removeFailure = new DnsUnavailable('Route 53 is away');
  await world.delete();
  await world.until(() => told('FailedTermination') !== undefined);
  expect(told('FailedTermination')).toBe('Route 53 is away (KPU332)');
  expect(world.cloud.alive).toHaveLength(1);
  world.dns.removeFailure = new NodeClassError(
    { code: 'KPU240', condition: 'DNSReady', reason: 'ZoneNotFound' },
    'no such zone',
  );
  world.dns.records.clear();
  await world.gone();
  expect(world.leaks()).toEqual(noLeaks);
});

test('zone and chart are asked once, however long the instance takes to end', async () => {
  await runningWith();
  await world.delete();
  await world.until(() => world.condition('InstanceTerminated') !== undefined);
  world.wire.passed.length = 0;
  const lists = world.client.calls.length;
  for (let look = 0; look < 2; look++) await world.pass();
  expect(world.wire.passed.filter((point) => point.startsWith('dns.'))).toEqual([]);
  const kinds = world.client.calls.slice(lists).map(({ verb, plural }) => `${verb} ${plural}`);
  expect(kinds).not.toContain('list configmaps');
});

test('what was never written down is found by its name: an open Node is drained and goes', async () => {
  await runningWith();
  const claim = world.find();
  if (!claim) throw new Error('no claim');
  world.client.seed(nodeClaims, { ...claim, status: {} });
  await world.delete();
  await world.gone();
  expect(told('Evicted')).toContain('goes away');
  expect(world.leaks()).toEqual(noLeaks);
});

test('two Nodes with one provider id both go', async () => {
  await runningWith();
  const [node] = world.nodes;
  if (!node) throw new Error('no Node');
  const twin = { name: 'twin', labels: {}, finalizers: [finalizers.termination] };
  world.client.seed(nodes, { ...node, metadata: twin });
  await world.delete();
  await world.gone();
  expect(world.nodes).toEqual([]);
});

test('a claim that never got to the cloud goes at once', async () => {
  await world.claim();
  await world.delete();
  await world.pass();
  expect(world.find()).toBeUndefined();
  expect(world.wire.passed.filter((point) => point.startsWith('cloud.'))).toEqual([]);
});

test('a claim without our finalizer is left to whoever holds it', async () => {
  await world.claim({ metadata: { finalizers: ['example.com/theirs'] } });
  await world.delete();
  const { length } = world.client.writes;
  await world.pass();
  expect(world.client.writes).toHaveLength(length);
});

test('another provider’s claim is never touched', async () => {
  const nodeClassRef = { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' };
  await world.claim({ spec: { nodeClassRef, requirements: [] } });
  const { length } = world.client.writes;
  await world.pass();
  await world.delete();
  await world.pass();
  expect(world.client.writes).toHaveLength(length + 1); // the test's own delete
});

test('T2: a name that the claim lost to a conflict is written again, not lost', async () => {
  await world.claim();
  world.client.fail(
    ({ plural, subresource }) => plural === nodeClaims.plural && subresource === 'status',
    refusal(409, 'Conflict', 'somebody else wrote'),
    3,
  );
  expect(await world.pass()).toBe(100);
  await world.initialized();
  expect(world.cloud.made).toHaveLength(1);
});
