import { beforeEach, expect, test } from 'vitest';

import { ApiError, ConnectionError } from '#kube/client/errors.ts';
import type { Logger } from '#kube/log.ts';
import { Metrics } from '#kube/metrics.ts';
import { certificateFor, certificateName } from '#machine/certificate/cert-manager.ts';
import type { InstancePart } from '#machine/cloud/provider.ts';
import { dnsEndpoints } from '#machine/dns/externaldns/endpoint.ts';
import { DnsUnavailable, ListIncomplete, TerminationRefused } from '#machine/errors.ts';
import { nodeClaims } from '#schemas/karpenter/types.ts';
import { certificates } from '#schemas/kubernetes/cert-manager.ts';
import {
  controllerRevisions,
  nodes,
  pods,
  secrets,
  statefulSets,
} from '#schemas/kubernetes/resource.ts';
import { finalizers, labels } from '#schemas/names.ts';
import type { ResolvedNodeClass } from '#schemas/nodeclass/types.ts';
import { hours, minutes, seconds } from '#schemas/time/clock.ts';

import { ClaimWorld, noLeaks, revisionName } from '../testing/claim-world.ts';
import { LeftoverCollector } from './collector.ts';
import { Places } from './everywhere.ts';
import { Telling } from './telling.ts';

let world: ClaimWorld;
let metrics: Metrics;
let collector: LeftoverCollector;

beforeEach(async () => {
  world = await ClaimWorld.make();
  start();
  await world.claim();
  await world.initialized();
  world.bindPod('guest');
  await world.look(); // Kraftlet takes it, with its finalizer
});

/** As a process does that has just become the leader. @param log  what is to be heard of its log */
function start(log: Partial<Logger> = {}): void {
  const { cloud, dns } = world;
  const context = { ...world.context, log: { ...world.context.log, ...log } };
  metrics = new Metrics();
  const clouds = { for: async () => cloud, dns: async () => dns };
  const places = new Places(context, clouds, ['kraftlet']);
  collector = new LeftoverCollector(
    context,
    async () => places.all(),
    new Telling(context, metrics),
  );
}

const round = async (): Promise<void> => collector.collect(new AbortController().signal);

/** As often as the operator looks, with what Kubernetes does between. */
async function rounds(count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await round();
    // oxlint-disable-next-line no-await-in-loop
    await world.clock.forward(minutes(5));
    // oxlint-disable-next-line no-await-in-loop
    await world.kraftlets.act();
    followKraftlet();
  }
}

/** A Node whose Kraftlet is gone is not Ready for long: Kubernetes' own controller says so. */
function followKraftlet(): void {
  for (const node of world.nodes) {
    const isServed = world.client.peek(statefulSets, {
      namespace: 'kraftlet',
      name: node.metadata.name,
    });
    const conditions = [{ type: 'Ready', status: 'Unknown' as const }];
    if (!isServed) world.client.seed(nodes, { ...node, status: { ...node.status, conditions } });
  }
}

/** Somebody takes the finalizer off: the claim is gone, and all that was made for it is not. */
function tearOff(name = 'web-1'): string {
  const uid = world.find(name)?.metadata.uid ?? '';
  world.client.remove(nodeClaims, { name });
  return uid;
}

function part(claimUid: string, rest: Partial<InstancePart> = {}): InstancePart {
  const usual = { id: 'vol-1', zone: 'eu-central-1a', state: 'available', isFree: true } as const;
  return { kind: 'volume', claimUid, ...usual, ...rest };
}

const textOf = (name: string) =>
  metrics.text().then((text) => text.split('\n').filter((line) => line.startsWith(name)));
const said = (code: string) => world.notes.filter(({ message }) => message.includes(code));

test('what has its claim is left alone, for ever', async () => {
  world.cloud.parts.all = [part(world.find()!.metadata.uid)];
  const before = world.leaks();
  await rounds(20);
  expect(world.leaks()).toEqual(before);
  expect(world.cloud.parts.all).toHaveLength(1);
  expect(await textOf('karpenter_unikraft_leftovers_removed_total')).toEqual([]);
});

test('a claim that is leaving still has what was made for it', async () => {
  world.cloud.terminateFailure = new TerminationRefused('protected');
  await world.delete();
  const { instances } = world.leaks();
  world.cloud.terminateFailure = undefined;
  await rounds(5);
  expect(world.leaks().instances).toBe(instances);
});

test('all of a claim whose finalizer was taken off goes, in the order that keeps addresses and Pods safe', async () => {
  const uid = tearOff();
  world.cloud.parts.all = [part(uid)];
  const lines: string[] = [];
  start({ warn: (_: unknown, line: string) => void lines.push(line) });

  await rounds(8);

  expect({ ...world.leaks(), reservations: 0 }).toEqual(noLeaks);
  expect(world.cloud.parts.all).toEqual([]);
  expect(world.client.all(pods)).toEqual([]);
  const order = lines.map((line) => line.split(' ')[0]);
  expect(order.filter((kind, index) => kind !== order[index - 1])).toEqual([
    'Release',
    'Name',
    'Instance',
    'Node',
    'Secret',
    'Part',
  ]);
  expect(await textOf('karpenter_unikraft_leftovers_removed_total{kind="instance"}')).toEqual([
    'karpenter_unikraft_leftovers_removed_total{kind="instance"} 1',
  ]);
  expect(said('KPU391').length).toBeGreaterThan(3);
});

test('nothing goes in the first minutes of a process, and a restart begins anew', async () => {
  tearOff();
  const before = world.leaks();
  for (let restart = 0; restart < 6; restart++) {
    start();
    // oxlint-disable-next-line no-await-in-loop -- one process after the other
    await rounds(1);
  }
  expect(world.leaks()).toEqual(before);
});

test('a clock that jumps makes nothing go at first sight', async () => {
  tearOff();
  const before = world.leaks();
  await round();
  await world.clock.forward(seconds(1));
  await round();
  expect(world.leaks()).toEqual(before);
  start();
  await world.clock.forward(hours(9));
  await round();
  expect(world.leaks()).toEqual(before);
});

test('a claim that comes while the lists are read keeps what was made for it', async () => {
  const uid = tearOff();
  await rounds(1);
  const { client } = world;
  // the lists are read, and only then is the claim there
  const snapshot = world.cloud.snapshot.bind(world.cloud);
  world.cloud.snapshot = async (...args) => {
    const listed = await snapshot(...args);
    client.seed(nodeClaims, { ...claimLike(uid) });
    return listed;
  };
  const before = world.leaks();
  await rounds(4);
  expect(world.leaks()).toEqual({ ...before, claims: 1 });
});

function claimLike(uid: string) {
  const nodeClassRef = { group: 'karpenter.unikraft.com', kind: 'UnikraftNodeClass', name: 'x' };
  return { metadata: { name: 'web-1', uid }, spec: { nodeClassRef, requirements: [] } };
}

test('a claim that was restored from a backup without its status gets a machine of its own, and the old one goes', async () => {
  const { metadata } = world.find()!;
  const [old] = world.cloud.alive;
  tearOff();
  const { annotations, labels: own, finalizers: held } = metadata;
  const kept = { ...(annotations && { annotations }), ...(own && { labels: own }) };
  await world.claim({ metadata: { name: 'web-1', ...kept, ...(held && { finalizers: held }) } });
  await world.initialized();
  const before = world.cloud.made.length;
  await rounds(10);
  expect(world.cloud.alive.map(({ id }) => id)).not.toContain(old?.id);
  expect(world.cloud.alive).toHaveLength(1);
  expect(world.cloud.made).toHaveLength(before);
  expect(world.leaks()).toMatchObject({ claims: 1, instances: 1, nodes: 1, secrets: 2 });
  await world.delete();
  await world.gone();
  expect({ ...world.leaks(), reservations: 0 }).toEqual(noLeaks);
});

test('a claim that was restored from a backup, with a new uid, keeps the instance that it names', async () => {
  const { status } = world.find()!;
  tearOff();
  const claim = claimLike('another');
  world.client.seed(nodeClaims, { ...claim, status: { providerID: status?.providerID ?? '' } });
  await rounds(6);
  expect(world.cloud.alive).toHaveLength(1);
});

test('while the API server cannot be read nothing is removed', async () => {
  tearOff();
  const before = world.leaks();
  await rounds(1);
  const away = new ConnectionError({ verb: 'GET', path: '/nodeclaims' }, new Error('reset'));
  world.client.fail(({ verb, plural }) => verb === 'list' && plural === 'nodeclaims', away, 3);
  for (let count = 0; count < 3; count++) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await expect(round()).rejects.toBe(away);
    // oxlint-disable-next-line no-await-in-loop
    await world.clock.forward(minutes(5));
  }
  expect(world.leaks()).toEqual(before);
});

test('an instance of another cluster, or of nobody, is never touched', async () => {
  await world.claim({}, 'web-2');
  await world.initialized('web-2');
  tearOff('web-1');
  tearOff('web-2');
  const [first, second] = world.cloud.made;
  Object.assign(first!.request.identity, { clusterUid: 'another' });
  Object.assign(second!.request.identity, { claimUid: '' });
  const list = async () => world.cloud.find(first!.request.nodeClass, first!.request.identity);
  const foreign = await list();
  const snapshot = world.cloud.snapshot.bind(world.cloud);
  // a filter that lets through more than it should
  world.cloud.snapshot = async (...args) => [...(await snapshot(...args)), ...foreign];
  await rounds(8);
  expect(world.cloud.alive.map(({ id }) => id)).toEqual([first!.id, second!.id]);
});

test('a place that cannot be listed keeps its own, and the others go on', async () => {
  const uid = tearOff();
  world.cloud.parts.all = [part(uid)];
  world.dns.ownedFailure = new DnsUnavailable('a page is missing');
  await rounds(8);
  expect(world.leaks()).toMatchObject({ instances: 0, secrets: 0, releases: 0, nodes: 0 });
  expect(world.leaks().records).toBeGreaterThan(0);
  expect(await textOf('karpenter_unikraft_leftovers_failed_total')).toEqual([
    'karpenter_unikraft_leftovers_failed_total{kind="name",what="list"} 8',
  ]);
  world.dns.ownedFailure = undefined;
  await rounds(3);
  expect({ ...world.leaks(), reservations: 0 }).toEqual(noLeaks);
});

test('no Pod is freed and no Node goes without the proof that the instance is gone', async () => {
  tearOff();
  world.cloud.findFailure = new ListIncomplete('zone b');
  await rounds(8);
  expect(world.leaks()).toMatchObject({ instances: 1, nodes: 1, heldPods: 1, secrets: 1 });
  const [guest] = world.client.all(pods);
  expect(guest?.metadata.finalizers).toContain(finalizers.kraftletPod);
});

test('no Pod is freed on the word of another account, or another class, in the same region', async () => {
  tearOff();
  const { client, namespace, cloud } = world;
  const stored = client.peek(controllerRevisions, { namespace, name: revisionName })!;
  const { spec, ...data } = stored.data as ResolvedNodeClass;
  const aws = { ...spec.aws!, assumeRoleARN: 'arn:aws:iam::210987654321:role/machines' };
  const other = { ...data, nodeClass: 'other', spec: { ...spec, aws } };
  // the class went with its last revision, and what is left leads to the same region in an account that is empty
  client.remove(controllerRevisions, stored.metadata);
  client.seed(controllerRevisions, { ...stored, metadata: { namespace, name: 'o' }, data: other });
  cloud.snapshot = async () => [];
  await rounds(8);
  expect(world.leaks()).toMatchObject({ instances: 1, nodes: 1, heldPods: 1 });
});

test('an instance that may not be ended is told, and what comes after it waits', async () => {
  tearOff();
  world.cloud.terminateFailure = new TerminationRefused('it is protected');
  await rounds(5);
  expect(world.leaks()).toMatchObject({ instances: 1, nodes: 1, heldPods: 1, secrets: 1 });
  expect(said('KPU393').at(-1)?.message).toContain('it is protected [KPU331]');
  world.cloud.terminateFailure = undefined;
  await rounds(6);
  expect({ ...world.leaks(), reservations: 0 }).toEqual(noLeaks);
});

test('a volume goes only when nobody has it and it is whole', async () => {
  const uid = tearOff();
  await rounds(8);
  const states = ['creating', 'in-use', 'deleting', 'error'];
  for (const state of states) {
    world.cloud.parts.all = [part(uid, { state, isFree: false })];
    // oxlint-disable-next-line no-await-in-loop -- one state after the other
    await rounds(4);
    expect(world.cloud.parts.all).toHaveLength(1);
  }
  world.cloud.parts.all = [part(uid)];
  await rounds(1); // it has just become free
  expect(world.cloud.parts.all).toHaveLength(1);
  await rounds(1);
  expect(world.cloud.parts.all).toEqual([]);
});

type Spec = ResolvedNodeClass['spec'];

/** As if the class had said so when the machine was made. */
function reviseSpec(revise: (spec: Spec) => Spec): void {
  const { client, namespace } = world;
  const stored = client.peek(controllerRevisions, { namespace, name: revisionName })!;
  const data = stored.data as ResolvedNodeClass;
  client.seed(controllerRevisions, { ...stored, data: { ...data, spec: revise(data.spec) } });
}

test('where external-dns writes the names, what it is asked by goes first', async () => {
  const uid = tearOff();
  const { client, namespace } = world;
  reviseSpec((spec) => ({ ...spec, dns: { ...spec.dns, provider: 'ExternalDNS' } }));
  const labelled = { name: 'web-1', namespace, labels: { [labels.claimUid]: uid } };
  client.seed(dnsEndpoints, { metadata: labelled, spec: { endpoints: [] } });
  client.fail(({ plural, verb }) => plural === 'dnsendpoints' && verb === 'delete', denied, 2);
  await rounds(3);
  expect(world.leaks().instances).toBe(1);
  await rounds(6);
  expect(client.all(dnsEndpoints)).toEqual([]);
  expect(world.leaks().instances).toBe(0);
});

test('what cert-manager was asked by goes before its Secret, which it would else make again and again', async () => {
  const uid = tearOff();
  const { client, namespace } = world;
  reviseSpec(({ certificate, ...spec }) => ({
    ...spec,
    certificate: { ...certificate, api: { mode: 'CertManager', issuerRef: { name: 'ca' } } },
  }));
  const certificate = certificateFor({
    namespace,
    machine: 'web-1',
    names: ['api.web-1.machines.example.com'],
    validity: hours(24),
    issuerRef: { name: 'ca', kind: 'ClusterIssuer', group: 'cert-manager.io' },
    labels: { [labels.claimUid]: uid },
  });
  const metadata = { ...certificate.metadata, name: certificateName('web-1') };
  let orders = 0;
  const issue = (): void => {
    if (!client.peek(certificates, metadata) || client.peek(secrets, metadata)) return;
    client.seed(secrets, { metadata, data: {} });
    orders += 1;
  };
  client.seed(certificates, certificate);
  client.fail(({ plural, verb }) => plural === 'certificates' && verb === 'delete', denied, 2);
  for (let count = 0; count < 12; count++) {
    issue();
    // oxlint-disable-next-line no-await-in-loop -- cert-manager looks before each round
    await rounds(1);
  }
  expect(orders).toBe(1);
  expect([client.peek(certificates, metadata), client.peek(secrets, metadata)]).toEqual([
    undefined,
    undefined,
  ]);
});

const denied = new ApiError({ verb: 'DELETE', path: '/' }, { code: 403 }, { message: 'no' });

test('the log and the events hold nothing of the Secrets that are removed', async () => {
  const uid = tearOff();
  const secret = world.client.all(secrets).find(({ metadata }) => metadata.labels)!;
  const lines: unknown[] = [];
  start({ warn: (...line: unknown[]) => void lines.push(line) });
  await rounds(8);
  const text = JSON.stringify([lines, world.notes]);
  expect(text).toContain(uid);
  for (const value of Object.values(secret.data ?? {})) expect(text).not.toContain(value);
});
