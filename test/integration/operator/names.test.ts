import { fileURLToPath } from 'node:url';

import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';

import { dnsEndpoints } from '#machine/dns/externaldns/endpoint.ts';
import { ExternalDnsStandIn } from '#sandbox/dns/external-dns/external-dns.ts';
import { readManifests } from '#sandbox/manifests/render.ts';
import { readSample } from '#sandbox/world/installation.ts';
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { statefulSets } from '#schemas/kubernetes/resource.ts';
import { machineName } from '#schemas/machine-name.ts';
import { labels } from '#schemas/names.ts';
import { unikraftNodeClasses, type UnikraftNodeClass } from '#schemas/nodeclass/types.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';
import { nodePool, optedInPod, standaloneClaim } from '#test/world/objects.ts';
import { TestWorld } from '#test/world/test-world.ts';

const tools = inject('tools');
const zone = 'machines.example.com';
const crd = fileURLToPath(new URL('../../../sandbox/dns/external-dns/crd.yaml', import.meta.url));
const namespace = 'karpenter-unikraft';

let world: TestWorld;
let external: ExternalDnsStandIn;

beforeAll(async () => {
  world = await TestWorld.start(tools);
  external = new ExternalDnsStandIn(world.client, zone);
  world.cloud.serve(() => external.served);
});
afterEach(async () => {
  await world.expectDeleted(...(await world.claims()));
  await world.expectNoLeaks();
});
afterAll(async () => {
  await external?.stop();
  await world?.stop();
});

/** The node class of a sample, by another name. */
async function sampled(sample: string, name: string): Promise<UnikraftNodeClass> {
  const [found] = (await readSample(tools, `dns/${sample}`)) as UnikraftNodeClass[];
  return { ...found, metadata: { name }, spec: found!.spec };
}

async function made(name: string): Promise<Live<NodeClaim>> {
  const [claim] = await world.expectApplied(standaloneClaim(name, undefined, 'delegated'));
  return claim as Live<NodeClaim>;
}

const apiOf = (claim: NodeClaim): string => `api.${machineName(claim)}.${zone}`;
/** `name type` of all that is written, sorted. */
const written = (): string[] =>
  external.served.sets.map(({ name, type }) => `${name} ${type}`).toSorted();

test('a machine in no DNS comes to be, runs its Pod and goes, and is known by name to Kraftlet', async () => {
  await world.expectUsable(await sampled('none', 'no-dns'));
  const { message } = await world.expectConditionOf(unikraftNodeClasses, 'no-dns', 'DNSReady', {
    status: 'True',
    reason: 'NamesNotPublished',
  });
  expect(message).toContain('(KPU371)');

  const pool = nodePool({ name: 'no-dns', nodeClass: 'no-dns' });
  const pod = optedInPod('unknown', { cpu: '1' });
  await world.expectApplied(pool, pod);
  const { spec } = await world.expectScheduled('unknown');
  const [node] = await world.expectNodes(1);
  expect(spec?.nodeName).toBe(node?.metadata.name);
  expect(world.cloud.leaks()).toMatchObject({ records: 0, texts: 0 });
  const { items } = await world.client.list(statefulSets, { labelSelector: labels.claimUid });
  const { address } = world.cloud.ec2.instances.live[0]!;
  const hostnames = ['api', 'index'].map((label) => `${label}.${spec?.nodeName}.machines.internal`);
  expect(items.map((set) => set.spec?.template.spec.hostAliases)).toEqual([
    [{ ip: address, hostnames }],
  ]);
  await world.expectDeleted(pod, pool);
});

test('a class that wants external-dns is not Ready without its kind, and is so once it is there', async () => {
  await world.expectApplied(await sampled('external-dns', 'delegated'));
  const refused = { status: 'False', reason: 'DNSEndpointsNotServed' };
  const { message } = await world.expectConditionOf(
    unikraftNodeClasses,
    'delegated',
    'DNSReady',
    refused,
  );
  expect(message).toMatch(/install external-dns' CRD.* \(KPU372\)$/);

  await world.expectApplied(...(await readManifests([crd])));
  await world.eventually('the class is Ready', async () => {
    await world.clock.forward(minutes(1)); // the longest pause between two looks
    const { status } = await world.client.get(unikraftNodeClasses, { name: 'delegated' });
    return status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True');
  });
  external.start();
});

test('external-dns writes the names of a machine, and they go with it', async () => {
  const claim = await made('delegated');
  await world.expectCondition(claim, 'Initialized', { status: 'True' });
  const api = apiOf(claim);
  const index = api.replace(/^api/, 'index');
  expect(written()).toEqual(
    [`${api} A`, `a-${api} TXT`, `${index} A`, `a-${index} TXT`].toSorted(),
  );
  const { items } = await world.client.list(dnsEndpoints, { namespace });
  expect(items.map(({ metadata }) => metadata.labels)).toMatchObject([
    { [labels.claimUid]: claim.metadata.uid },
  ]);

  await world.expectDeleted(claim);
  await world.expectGone(claim);
  expect(written()).toEqual([]);
  expect((await world.client.list(dnsEndpoints)).items).toEqual([]);
  expect(await world.eventsOf(claim)).not.toContain('RecordsLeft');
});

test('T30: a name that somebody else holds is told and waited for, and left as it is', async () => {
  world.cloud.ec2.instances.next({ running: seconds(2) });
  const claim = await made('taken');
  external.put(apiOf(claim), '192.0.2.1');
  await world.expectCondition(claim, 'DNSReady', {
    status: 'Unknown',
    reason: 'WaitingForPropagation',
  });
  await world.clock.forward(minutes(2));
  const { message } = await world.expectCondition(claim, 'DNSReady', {
    status: 'Unknown',
    reason: 'NamesDoNotResolve',
  });
  expect(message).toMatch(
    /^api\.\S+ resolves to 192\.0\.2\.1, and not to 127\.\S+; external-dns has read .* \(KPU374\)$/,
  );
  await world.expectEvent(claim, 'NamesDoNotResolve');
  expect(written()).not.toContain(`a-${apiOf(claim)} TXT`);

  external.delete(apiOf(claim));
  await world.eventually('the claim goes on', async () => {
    await world.clock.forward(seconds(10));
    const { status } = await world.claim(claim);
    return status?.conditions?.some(({ type, status: is }) => type === 'DNSReady' && is === 'True');
  });
});
