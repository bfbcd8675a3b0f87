import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';

import { googleZone } from '#sandbox/cloud/cloud.ts';
import { callForSecrets } from '#sandbox/machine/call.ts';
import { readUserData, type CallbackSettings } from '#sandbox/machine/user-data.ts';
import { freePort } from '#sandbox/processes/ports.ts';
import { applySample } from '#sandbox/world/installation.ts';
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { Secret } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { secrets } from '#schemas/kubernetes/resource.ts';
import { labels, tags } from '#schemas/names.ts';
import { unikraftNodeClasses, type UnikraftNodeClass } from '#schemas/nodeclass/types.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';
import { nodeClass, standaloneClaim } from '#test/world/objects.ts';
import { TestWorld } from '#test/world/test-world.ts';

const { signal } = new AbortController();
let world: TestWorld;
let port: number;

beforeAll(async () => {
  port = await freePort();
  world = await TestWorld.start(inject('tools'), {
    settings: (cloud) => ({
      ...cloud.bootstrapTrust,
      BOOTSTRAP_HOSTNAMES: 'localhost',
      BOOTSTRAP_PORT: String(port),
    }),
  });
});
afterEach(async () => {
  await world.expectDeleted(...(await world.claims()));
  await world.expectNoLeaks();
});
afterAll(async () => world?.stop());

const bootstrap = () =>
  ({ mode: 'Callback', callback: { url: `https://localhost:${port}` } }) as const;

function onAws(): UnikraftNodeClass {
  const { aws } = nodeClass().spec;
  return nodeClass({
    bootstrap: bootstrap(),
    ...(aws && { aws: { ...aws, instanceProfile: 'unikraft-machine' } }),
  });
}

function onGoogle(): UnikraftNodeClass {
  const { aws: _, ...spec } = nodeClass({ bootstrap: bootstrap() }, 'google').spec;
  const gcp = {
    project: 'sandbox-project',
    region: 'europe-west1',
    subnetwork: 'machines',
    serviceAccount: 'machines@sandbox-project.iam.gserviceaccount.com',
  };
  const image = { selectorTerms: [{ family: 'unikraft-platform', owner: 'unikraft-images' }] };
  const dns = { provider: 'CloudDNS', zone: googleZone } as const;
  return { ...nodeClass({}, 'google'), spec: { ...spec, gcp, image, dns } };
}

async function made(name: string, of = 'default'): Promise<Live<NodeClaim>> {
  const [claim] = await world.expectApplied(standaloneClaim(name, undefined, of));
  return claim as Live<NodeClaim>;
}

async function credentialsOf({ metadata }: Live<NodeClaim>): Promise<Secret> {
  const labelSelector = `${labels.claimUid}=${metadata.uid}`;
  const { items } = await world.client.list(secrets, { labelSelector });
  const found = items.find(({ metadata: { name } }) => name.endsWith('-credentials'));
  expect(found).toBeDefined();
  return found ?? {};
}

/** What is read by whoever may read an instance's attributes, and where the instance is. */
async function bornAs({
  metadata,
}: Live<NodeClaim>): Promise<{ userData: string; address: string }> {
  return world.eventually('an instance', async () => {
    const onEc2 = world.cloud.ec2.instances.all.find(
      ({ launch }) => launch.tags[tags.claimUid] === metadata.uid,
    );
    if (onEc2) return { userData: onEc2.launch.userData, address: onEc2.address };
    const onGce = world.cloud.gce.instances.all.find(({ launch }) =>
      Object.values(launch.labels).includes(metadata.uid),
    );
    const item = onGce?.launch.metadata.find(({ key }) => key === 'user-data');
    return onGce && item && { userData: item.value, address: onGce.address };
  });
}

function callbackIn(userData: string): CallbackSettings {
  const { callback } = readUserData(userData);
  if (!callback) throw new Error('the user data says nothing of a call');
  return callback;
}

test('a class whose machines would call where nobody answers says so: the sample, on an operator of another name', async () => {
  await applySample(world.client, inject('tools'), 'callback');
  const told = await world.expectConditionOf(unikraftNodeClasses, 'default', 'CredentialsReady', {
    status: 'False',
    reason: 'BootstrapNotServed',
  });
  expect(told.message).toMatch(/bootstrap\.example\.com is not among .* \(KPU388\)$/);
});

test.each([
  ['AWS', 'default', onAws],
  ['Google Cloud', 'google', onGoogle],
])(
  'a machine on %s calls for its secrets, and none of them ever stood in its user data',
  async (_, of, classOf) => {
    await world.expectUsable(classOf());
    const claim = await made(`${of}-1`, of);
    await world.expectCondition(claim, 'Initialized', { status: 'True' });

    const { userData, address } = await bornAs(claim);
    const { data = {} } = await credentialsOf(claim);
    const text = (key: string): string => Buffer.from(data[key] ?? '', 'base64').toString();
    expect(text('token')).toMatch(/^[\w-]{43}$/);
    expect(userData).not.toContain(text('token'));
    expect(userData).not.toContain('PRIVATE KEY');
    expect(Object.keys(data)).not.toContain('tls.key');
    expect(text('tls.crt')).toContain('BEGIN CERTIFICATE');
    const told = await world.eventsOf(claim);
    expect(told.filter((reason) => reason.startsWith('Bootstrap'))).toEqual([]);

    // Somebody on the machine itself, who has all that it had, is too late.
    const clock = new SystemClock();
    const caller = { address, surroundings: world.cloud.surroundings, clock };
    const again = callForSecrets(callbackIn(userData), caller, signal);
    await expect(again).rejects.toThrow(/answered 409: .*has served at .*\(KPU385\)/);
    await world.expectEvent(claim, 'BootstrapTokenReplayed');
  },
);

test('whoever reads the user data of a machine that has not called yet gets nothing by it', async () => {
  await world.expectUsable(onAws());
  world.cloud.machines.next({ health: 'mute' }); // it never calls
  const victim = await made('victim');
  const { userData } = await bornAs(victim);
  const thief = await made('thief');
  const { address } = await bornAs(thief);
  await world.expectCondition(thief, 'Initialized', { status: 'True' });
  await world.expectCondition(victim, 'InstanceRunning', { status: 'True' });
  const stolen = callbackIn(userData);
  const caller = { address, surroundings: world.cloud.surroundings, clock: new SystemClock() };

  await expect(callForSecrets(stolen, caller, signal)).rejects.toThrow(
    /answered 403: .*the instance of the caller is i-\w+, not i-\w+ \(KPU383\)/,
  );
  await world.expectEvent(victim, 'BootstrapIdentityRefused');

  const own = callbackIn((await bornAs(thief)).userData);
  const mixed = { ...stolen, audience: own.audience };
  await expect(callForSecrets(mixed, caller, signal)).rejects.toThrow(
    /answered 403: .*unexpected .*aud/,
  );
  const [header = '', body = ''] = stolen.token.split('.');
  const forged = { ...stolen, token: `${header}.${body}.` };
  await expect(callForSecrets(forged, caller, signal)).rejects.toThrow(/answered 401: /);
  const swollen = { ...stolen, token: 'x'.repeat(40_000) };
  await expect(callForSecrets(swollen, caller, signal)).rejects.toThrow(/answered 413: /);
  const { data } = await credentialsOf(victim);
  expect(Object.keys(data ?? {})).not.toContain('bootstrapped-at');
});
