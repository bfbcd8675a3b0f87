import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';

import { FakeUpdateServer } from '#machine/dns/rfc2136/testing/update-server.ts';
import type { TsigKey } from '#machine/dns/rfc2136/tsig.ts';
import type { ServedZone } from '#sandbox/dns/answer.ts';
import type { LocalProcess } from '#sandbox/processes/local-process.ts';
import { readSample } from '#sandbox/world/installation.ts';
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { Secret } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { machineName } from '#schemas/machine-name.ts';
import { unikraftNodeClasses, type UnikraftNodeClass } from '#schemas/nodeclass/types.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';
import { standaloneClaim } from '#test/world/objects.ts';
import { startOperatorProcess } from '#test/world/operator-process.ts';
import { TestWorld } from '#test/world/test-world.ts';

const zone = 'machines.example.net';
const key: TsigKey = {
  name: 'kpu',
  algorithm: 'hmac-sha256',
  secret: Buffer.from('the secret of kpu'),
};

let world: TestWorld;
let server: FakeUpdateServer;

beforeAll(async () => {
  world = await TestWorld.start(inject('tools'));
  server = await FakeUpdateServer.start(zone, key);
  world.cloud.serve(served);
});
afterEach(async () => {
  await world.expectDeleted(...(await world.claims()));
  await world.expectNoLeaks();
});
afterAll(async () => {
  await world?.stop();
  server?.stop();
});

/** The zone as whoever resolves sees it: what the server holds, at once. */
function served(): ServedZone {
  const sets = server.contents.map((line) => {
    const [name = '', type = '', ...value] = line.split(' ');
    return { name, type, ttl: 60, values: [value.join(' ')] };
  });
  return { name: zone, sets };
}

async function nodeClass(): Promise<UnikraftNodeClass> {
  const [found] = (await readSample(inject('tools'), 'dns/rfc2136')) as UnikraftNodeClass[];
  const { spec } = found!;
  const dns = { ...spec.dns, server: '127.0.0.1', port: server.port };
  return { ...found, metadata: { name: 'updates' }, spec: { ...spec, dns } };
}

async function made(name: string): Promise<Live<NodeClaim>> {
  const [claim] = await world.expectApplied(standaloneClaim(name, undefined, 'updates'));
  return claim as Live<NodeClaim>;
}

const apiOf = (claim: NodeClaim): string => `api.${machineName(claim)}.${zone}`;

/** All that the zone holds of a machine that runs, sorted. */
function recordsOf(claim: NodeClaim): string[] {
  const api = apiOf(claim);
  const { address } = world.cloud.ec2.instances.live[0]!;
  const names = [api, api.replace(/^api/, 'index')];
  return names
    .flatMap((name) => [
      `${name} A ${address}`,
      expect.stringMatching(
        `^_kpu\\.${name} TXT "heritage=karpenter-unikraft,owner=.*,nodeclaim=${claim.metadata?.uid}"$`,
      ) as string,
    ])
    .toSorted((a, b) => (String(a) < String(b) ? -1 : 1));
}

const expectRecordsOf = (claim: NodeClaim): void => {
  expect(server.contents).toHaveLength(4);
  expect(server.contents).toEqual(expect.arrayContaining(recordsOf(claim)));
};

test('a class whose key is not there yet is not Ready, and is so once its Secret is', async () => {
  await world.expectApplied(await nodeClass());
  const { message } = await world.expectConditionOf(unikraftNodeClasses, 'updates', 'DNSReady', {
    status: 'False',
    reason: 'SecretNotFound',
  });
  expect(message).toMatch(/dns-key does not exist.* \(KPU241\)$/);

  await world.expectApplied(secretOf(Buffer.from('of somebody else')));
  await untilCondition('False', 'ZoneForbidden');
  await world.expectApplied(secretOf(key.secret));
  await untilCondition('True', 'DNSReady');
  expect(server.contents).toEqual([]); // to be proven writable it was not written to
});

test('T30: a record that was changed by hand on a machine that runs goes with it all the same', async () => {
  const claim = await made('changed');
  await world.expectCondition(claim, 'Initialized', { status: 'True' });
  expectRecordsOf(claim);

  server.put(apiOf(claim), 'A', '192.0.2.1');
  await world.expectDeleted(claim);
  await world.expectGone(claim);
  expect(server.contents).toEqual([]);
});

test('T30: a name of another owner is never touched, and the claim goes on once it is free', async () => {
  world.cloud.ec2.instances.next({ running: seconds(2) });
  const claim = await made('taken');
  const theirs = 'heritage=karpenter-unikraft,owner=another-cluster,nodeclaim=theirs';
  server.put(apiOf(claim), 'A', '192.0.2.1');
  server.put(`_kpu.${apiOf(claim)}`, 'TXT', `"${theirs}"`);
  const before = server.contents;
  const { message } = await world.expectCondition(claim, 'DNSReady', {
    status: 'Unknown',
    reason: 'DNSConflict',
  });
  expect(message).toMatch(/ is taken by .*owner=another-cluster.* \(KPU323\)$/);
  expect(server.contents).toEqual(before);

  server.delete(apiOf(claim), 'A');
  server.delete(`_kpu.${apiOf(claim)}`, 'TXT');
  await world.eventually('the claim goes on', async () => {
    await world.clock.forward(minutes(1)); // only a person can help, so it looks seldom
    const { status } = await world.claim(claim);
    return status?.conditions?.some(({ type, status: is }) => type === 'DNSReady' && is === 'True');
  });
  expectRecordsOf(claim);
});

test('T30: a name of another owner that a claim asked for in vain outlives the claim', async () => {
  world.cloud.ec2.instances.next({ running: seconds(2) });
  const claim = await made('in-vain');
  server.put(apiOf(claim), 'A', '192.0.2.1');
  await world.expectCondition(claim, 'DNSReady', { status: 'Unknown', reason: 'DNSConflict' });
  await world.expectDeleted(claim);
  await world.expectGone(claim);
  expect(server.contents).toEqual([`${apiOf(claim)} A 192.0.2.1`]);
  server.delete(apiOf(claim), 'A');
});

test('T30: killed while its names are written, and again while they are removed: nothing is half', async () => {
  await world.stopOperator();
  let operator = await started();
  const killed = async (): Promise<void> => {
    const dies = operator.exited;
    server.beforeUpdate = () => operator.kill('SIGKILL');
    await dies;
    operator = await started();
  };

  const [claim] = await Promise.all([made('killed'), killed()]);
  expect(server.contents).toHaveLength(4); // carried out, and nobody heard of it
  await world.expectCondition(claim, 'Initialized', { status: 'True' });
  expectRecordsOf(claim);
  expect(world.cloud.ec2.instances.live).toHaveLength(1);

  await Promise.all([world.expectDeleted(claim), killed()]);
  await world.expectGone(claim);
  expect(server.contents).toEqual([]);
});

function secretOf(secret: Buffer): Secret {
  const metadata = { name: 'dns-key', namespace: 'karpenter-unikraft' };
  const stringData = { secret: secret.toString('base64') };
  return { apiVersion: 'v1', kind: 'Secret', metadata, stringData } as Secret;
}

/** Time passes until the next look. */
async function untilCondition(status: string, reason: string): Promise<void> {
  await world.eventually(`DNSReady ${status} for ${reason}`, async () => {
    await world.clock.forward(minutes(1));
    const { status: is } = await world.client.get(unikraftNodeClasses, { name: 'updates' });
    return is?.conditions?.some(
      (one) => one.type === 'DNSReady' && one.status === status && one.reason === reason,
    );
  });
}

/** A process that has looked at the class: whether the zone can be written to is asked by an update too. */
async function started(): Promise<LocalProcess> {
  const { length } = server.updates;
  const operator = await startOperatorProcess(world.world);
  await world.eventually('a look at the zone', async () => server.updates.length > length);
  return operator;
}
