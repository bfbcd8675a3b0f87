import { X509Certificate } from 'node:crypto';

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { BootstrapRefused, KeysUnavailable } from '#machine/bootstrap/refusal.ts';
import { NodeClassError } from '#machine/errors.ts';
import { TokenIssuer } from '#machine/testing/token-issuer.ts';
import { newChain } from '#pki/testing/chains.ts';
import { newRequest } from '#pki/testing/requests.ts';
import { nodeClaims, type NodeClaim } from '#schemas/karpenter/types.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { secrets } from '#schemas/kubernetes/resource.ts';
import { minutes } from '#schemas/time/clock.ts';

import { textIn } from '../read-secret.ts';
import { BootstrapWorld } from '../testing/bootstrap-world.ts';
import { TooEarly, type Call } from './callback.ts';

let issuer: TokenIssuer;
let world: BootstrapWorld;
let claim: Live<NodeClaim>;
beforeAll(async () => {
  issuer = await TokenIssuer.start('ES384');
});
beforeEach(async () => {
  issuer.failsWith = undefined;
  world = await BootstrapWorld.make(issuer);
  claim = await world.launched();
});
afterAll(async () => issuer.stop());

const reasons = (): string[] => world.notes.map(({ reason }) => reason);

/** Refused for this reason, and nothing but an event has come of it. */
async function expectRefused(call: Call, reason: string, message: RegExp): Promise<void> {
  const before = world.secretOf(claim).metadata.resourceVersion;
  const error = await world
    .newCallback()
    .answer(call)
    .catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(BootstrapRefused);
  expect((error as Error).message).toMatch(message);
  expect(world.notes.at(-1)).toMatchObject({ type: 'Warning', reason });
  const { involved, text } = {
    involved: world.notes.at(-1)?.object,
    text: world.notes.at(-1)?.message,
  };
  expect(involved?.metadata?.name).toBe(claim.metadata.name);
  expect(text).toMatch(/\(KPU38[2-5]\)$/);
  for (const shown of Object.values(call)) expect(text).not.toContain(String(shown).slice(0, 30));
  expect(world.secretOf(claim).metadata.resourceVersion).toBe(before);
}

test('the machine that was launched gets its secrets, and a leaf for the key that it keeps', async () => {
  const asked = await newRequest({ names: ['api.web-2.machines.example.com', '*.example.com'] });
  const granted = await world.newCallback().answer(await world.callOf(claim, asked));

  const leaf = new X509Certificate(granted.tls?.certificate ?? '');
  expect(leaf.subjectAltName).toMatch(/^DNS:api\.web-[0-9a-f]{8}\.machines\.example\.com$/);
  expect(leaf.verify(new X509Certificate(world.authority.pem.certificate).publicKey)).toBe(true);
  expect(granted.tls).not.toHaveProperty('privateKey');
  expect(granted.users).toEqual([
    { name: 'kraftlet', token: textIn(world.secretOf(claim), 'token') },
  ]);
  expect(granted).not.toHaveProperty('activationToken');
  expect(world.notes).toEqual([]);
});

test('its Secret never holds the machine’s key, and the leaf once it is signed', async () => {
  const before = await world.store.get(world.hand(claim));
  expect(before?.tls).toMatchObject({ certificate: '', privateKey: '' });
  const granted = await world.newCallback().answer(await world.callOf(claim));

  expect(Object.keys(world.secretOf(claim).data ?? {})).not.toContain('tls.key');
  const after = await world.store.get(world.hand(claim));
  expect(after?.tls).toEqual({
    certificate: granted.tls?.certificate,
    privateKey: '',
    ca: world.authority.pem.certificate,
  });
  expect(after?.token).toBe(before?.token);
});

describe('a call that is wrong gets nothing, and the machine can still call:', () => {
  test('with the token of another machine', async () => {
    const other = await world.callOf(await world.launched('web-2'));
    const own = await world.callOf(claim);
    await expectRefused({ ...own, identity: other.identity }, 'BootstrapIdentityRefused', /"aud"/);
    claim = await world.launched('web-3');
    const stolen = await world.callOf(claim);
    await expectRefused({ ...stolen, identity: own.identity }, 'BootstrapIdentityRefused', /"aud"/);
    await expect(world.newCallback().answer(stolen)).resolves.toBeDefined();
  });

  test('from another instance that has read the user data', async () => {
    const call = await world.callOf(claim);
    const identity = world.identityOf(claim, 'i-0bad');
    const told = /the instance of the caller is i-0bad, not i-/;
    await expectRefused({ ...call, identity }, 'BootstrapIdentityRefused', told);
    await expect(world.newCallback().answer(call)).resolves.toBeDefined();
  });

  test('for a weak key', async () => {
    const algorithm = {
      name: 'RSASSA-PKCS1-v1_5',
      modulusLength: 1024,
      publicExponent: new Uint8Array([1, 0, 1]),
      hash: 'SHA-256',
    };
    const weak = await world.callOf(claim, await newRequest({ algorithm }));
    await expectRefused(weak, 'BootstrapRequestRefused', /has 1024 bits/);
    await expect(world.newCallback().answer(await world.callOf(claim))).resolves.toBeDefined();
  });

  test('for a key of somebody else', async () => {
    const { request } = await newRequest({ signer: await newRequest() });
    const call = { ...(await world.callOf(claim)), request };
    await expectRefused(call, 'BootstrapRequestRefused', /not signed with the key/);
    await expect(world.newCallback().answer(await world.callOf(claim))).resolves.toBeDefined();
  });
});

test('a token is over after a quarter of an hour, and the claim says so', async () => {
  await world.clock.forward(minutes(16));
  await expectRefused(
    await world.callOf(claim),
    'BootstrapTokenRefused',
    /^the time of the token is over$/,
  );
  expect(reasons()).toEqual(['BootstrapTokenRefused']);
});

test('a token that nobody minted says nothing about anybody', async () => {
  const call = await world.callOf(claim);
  const [header, , signature] = call.token.split('.');
  const body = Buffer.from(JSON.stringify({ sub: claim.metadata.uid })).toString('base64url');
  const forged = { ...call, token: [header, body, signature].join('.') };
  await expect(world.newCallback().answer(forged)).rejects.toThrow(BootstrapRefused);
  expect(world.notes).toEqual([]);
});

test('a token that was minted and not kept is not the machine’s', async () => {
  const { token } = await world
    .newTickets()
    .mint(claim.metadata.uid, 'https://bootstrap.example.com:8443');
  await expectRefused(
    { ...(await world.callOf(claim)), token },
    'BootstrapTokenRefused',
    /not the one that the machine was given/,
  );
  await expect(world.newCallback().answer(await world.callOf(claim))).resolves.toBeDefined();
});

describe('once:', () => {
  test('the same call again is refused, by a replica that knows nothing of the first', async () => {
    const call = await world.callOf(claim);
    await world.newCallback().answer(call);
    await expectRefused(call, 'BootstrapTokenReplayed', /has served at /);
    const another = await world.callOf(claim);
    await expectRefused(another, 'BootstrapTokenReplayed', /has served at /);
    expect(reasons()).toEqual(['BootstrapTokenReplayed', 'BootstrapTokenReplayed']);
  });

  test('of calls at the same time, at several replicas, one gets an answer', async () => {
    const calls = await Promise.all([1, 2, 3, 4].map(async () => world.callOf(claim)));
    const ends = await Promise.allSettled(
      calls.map(async (call) => world.newCallback().answer(call)),
    );
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const refused = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as Error] : []));
    expect(refused.map((error) => error instanceof BootstrapRefused && error.kind)).toEqual(
      Array(3).fill('replay'),
    );
    expect(new Set(reasons())).toEqual(new Set(['BootstrapTokenReplayed']));
  });

  test('nothing is given as long as it cannot be written that it was', async () => {
    const call = await world.callOf(claim);
    const error = new Error('no answer');
    world.client.fail(({ verb, plural }) => verb === 'patch' && plural === 'secrets', error);
    await expect(world.newCallback().answer(call)).rejects.toThrow(error);
    await expect(world.newCallback().answer(call)).resolves.toBeDefined();
  });

  test('a write whose answer was lost, and that was sent again, is known for what it is', async () => {
    const call = await world.callOf(claim);
    const { client } = world;
    const patch = client.patch.bind(client);
    client.patch = async (...sent) => {
      await patch(...sent);
      client.patch = patch;
      return patch(...sent);
    };
    await expect(world.newCallback().answer(call)).resolves.toBeDefined();
    expect(world.notes).toEqual([]);
    await expectRefused(call, 'BootstrapTokenReplayed', /has served at \S+Z$/);
  });

  test('a Secret that somebody else changed meanwhile is read again at the next call', async () => {
    const call = await world.callOf(claim);
    const { client } = world;
    const { namespace = '', name } = world.secretOf(claim).metadata;
    const patch = client.patch.bind(client);
    client.patch = async (...sent) => {
      client.patch = patch;
      const touch = { type: 'merge', body: { metadata: { labels: { touched: 'yes' } } } } as const;
      await patch(secrets, { namespace, name }, touch);
      return patch(...sent);
    };
    await expect(world.newCallback().answer(call)).rejects.toThrow(TooEarly);
    await expect(world.newCallback().answer(call)).resolves.toBeDefined();
    expect(reasons()).toEqual([]);
  });
});

describe('whoever may be right shall call again:', () => {
  test('before its launch is written down', async () => {
    claim = await world.announced('web-2');
    const call = await world.callOf(claim);
    await expect(world.newCallback().answer(call)).rejects.toThrow(TooEarly);
    claim = await world.launched('web-2');
    await expect(world.newCallback().answer(call)).resolves.toBeDefined();
    expect(world.notes).toEqual([]);
  });

  test('while the keys of the cloud cannot be fetched', async () => {
    const call = await world.callOf(claim);
    issuer.failsWith = 500;
    await expect(world.newCallback().answer(call)).rejects.toThrow(KeysUnavailable);
    issuer.failsWith = undefined;
    await expect(world.newCallback().answer(call)).resolves.toBeDefined();
  });

  test('while what activates the platform is missing', async () => {
    world = await BootstrapWorld.make(issuer, {
      platform: { activationSecretRef: { name: 'licence' } },
    });
    claim = await world.launched();
    const call = await world.callOf(claim);
    await expect(world.newCallback().answer(call)).rejects.toThrow(NodeClassError);
    const metadata = { name: 'licence', namespace: world.context.namespace };
    world.client.seed(secrets, { metadata, data: { token: btoa('activate-me') } });
    const granted = await world.newCallback().answer(call);
    expect(granted.activationToken).toBe('activate-me');
  });
});

test.each(['gone', 'leaving'])('a machine that is %s gets nothing any more', async (how) => {
  const call = await world.callOf(claim);
  if (how === 'gone') world.client.remove(nodeClaims, claim.metadata);
  else await world.client.delete(nodeClaims, claim.metadata);
  await expect(world.newCallback().answer(call)).rejects.toThrow('is not awaited any more');
});

test('a certificate of the user’s own comes with its key, and is in no user data', async () => {
  world = await BootstrapWorld.make(issuer, {
    certificate: { api: { mode: 'SecretRef', secretRef: { name: 'own' } } },
  });
  const { whole, root } = await newChain(world.clock, ['*.web-1.machines.example.com']);
  const data = { 'tls.crt': whole.certificate, 'tls.key': whole.privateKey, 'ca.crt': root };
  world.client.seed(secrets, {
    metadata: { name: 'own', namespace: world.context.namespace },
    data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, btoa(text)])),
  });
  claim = await world.launched();
  const granted = await world.newCallback().answer(await world.callOf(claim));
  expect(granted.tls).toEqual(whole);
});
