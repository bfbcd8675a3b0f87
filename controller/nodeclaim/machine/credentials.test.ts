import { beforeEach, expect, test } from 'vitest';

import { CreateError, NodeClassError } from '#machine/errors.ts';
import { Authority } from '#pki/authority.ts';
import { newChain } from '#pki/testing/chains.ts';
import { nodeClaims, type NodeClaim } from '#schemas/karpenter/types.ts';
import { secrets } from '#schemas/kubernetes/resource.ts';
import { labels } from '#schemas/names.ts';
import type { ResolvedNodeClass } from '#schemas/nodeclass/types.ts';
import { hours } from '#schemas/time/clock.ts';

import { noTickets } from '../../bootstrap-mode.ts';
import { certificatesOf } from '../../testing/certificates.ts';
import { memoryContext } from '../../testing/context.ts';
import { nodeClaim, nodeClassSpec } from '../../testing/objects.ts';
import { ClaimInHand } from '../steps/claim-in-hand.ts';
import { CredentialStore } from './credentials.ts';

const signal = new AbortController().signal;
const nodeClass: ResolvedNodeClass = {
  nodeClass: 'default',
  spec: nodeClassSpec(),
  image: { id: 'ami-1', architecture: 'amd64', rootDeviceName: '/dev/xvda' },
  subnets: [],
  securityGroups: [],
  dnsZoneID: 'Z1',
};

let memory: ReturnType<typeof memoryContext>;
let newStore: () => CredentialStore;
beforeEach(async () => {
  memory = memoryContext();
  const { clock } = memory;
  const authority = await Authority.create(clock, { commonName: 'ca', validity: hours(24 * 365) });
  newStore = () =>
    new CredentialStore(memory.context, certificatesOf(memory.context, authority), noTickets);
});

function handOf(name: string, claim: Partial<NodeClaim> = {}): ClaimInHand {
  const live = memory.client.seed(nodeClaims, nodeClaim(name, claim));
  return new ClaimInHand(live, undefined, memory.context.clusterUid, memory.clock);
}
const ensure = async (hand: ClaimInHand, store = newStore(), of = nodeClass) =>
  store.ensure(hand, of, 'api.web.example.com', signal);
const classWith = (api: ResolvedNodeClass['spec']['certificate']['api']): ResolvedNodeClass => ({
  ...nodeClass,
  spec: nodeClassSpec({ certificate: { api } }),
});

test('they are made once: a restart finds the same token and key', async () => {
  const hand = handOf('web-1');
  const first = await ensure(hand);
  expect(await ensure(hand)).toEqual(first);
  expect(first.token).toMatch(/^[\w-]{43}$/);
  expect(first.tls?.certificate).toContain('BEGIN CERTIFICATE');
  expect(memory.client.all(secrets)).toHaveLength(1);
});

test('what is known of a machine is forgotten with its claim, also when somebody took its finalizer off', async () => {
  const [hand, store] = [handOf('web-1'), newStore()];
  await ensure(hand, store);
  const calls = (): number => memory.client.calls.length;
  let before = calls();
  await store.get(hand);
  expect(calls()).toBe(before);
  memory.client.remove(nodeClaims, { name: 'web-1' });
  before = calls();
  await store.get(hand);
  expect(calls()).toBe(before + 1);
});

test('two passes that make them at the same time agree', async () => {
  const hand = handOf('web-1');
  const [one, other] = await Promise.all([ensure(hand), ensure(hand)]);
  expect(one).toEqual(other);
});

test('the Secret cannot be changed, is found by its claim, and goes with it', async () => {
  const hand = handOf('web-1');
  await ensure(hand);
  const [secret] = memory.client.all(secrets);
  expect(secret).toMatchObject({ immutable: true, metadata: { namespace: memory.namespace } });
  expect(secret?.metadata.labels?.[labels.claimUid]).toBe(hand.identity.claimUid);
  expect(secret?.metadata).not.toHaveProperty('ownerReferences'); // ADR 30
  await newStore().remove(hand, signal);
  expect(memory.client.all(secrets)).toEqual([]);
  await newStore().remove(hand, signal);
});

test('what was removed is not remembered', async () => {
  const [hand, store] = [handOf('web-1'), newStore()];
  await ensure(hand, store);
  await store.remove(hand, signal);
  expect(await store.get(hand)).toBeUndefined();
});

test('two machines that happen to have one name never share a token', async () => {
  const uid = (tail: string): Partial<NodeClaim> => ({
    metadata: { uid: `aaaaaaaa-0000-4000-8000-${tail}`, labels: { [labels.nodePool]: 'web' } },
  });
  const [first, second] = [handOf('a', uid('000000000001')), handOf('b', uid('000000000002'))];
  expect(first.identity.name).toBe(second.identity.name);
  await ensure(first);
  await expect(ensure(second)).rejects.toThrow(CreateError);
  await newStore().remove(second, signal);
  expect(await newStore().get(first)).toBeDefined();
});

test("a machine keeps what the user's Secret held at its launch", async () => {
  const [first, second] = await Promise.all([
    newChain(memory.clock, ['*.web.example.com']),
    newChain(memory.clock, ['*.web.example.com']),
  ]);
  const put = ({ whole, root }: typeof first): void => {
    const data = { 'tls.crt': whole.certificate, 'tls.key': whole.privateKey, 'ca.crt': root };
    const encoded = Object.entries(data).map(([key, text]) => [key, btoa(text)]);
    memory.client.seed(secrets, {
      metadata: { name: 'own', namespace: memory.namespace },
      data: Object.fromEntries(encoded),
    });
  };
  const given = classWith({ mode: 'SecretRef', secretRef: { name: 'own' } });
  const hand = handOf('web-1');
  await expect(ensure(hand, newStore(), given)).rejects.toThrow(NodeClassError);
  put(first);
  const made = await ensure(hand, newStore(), given);
  expect(made.tls).toEqual({ ...first.whole, ca: first.root });
  put(second);
  expect(await ensure(hand, newStore(), given)).toEqual(made);
  expect((await ensure(handOf('web-2'), newStore(), given)).tls?.ca).toBe(second.root);
});

test('a machine without a certificate has a token all the same', async () => {
  const hand = handOf('web-1');
  const made = await ensure(hand, newStore(), classWith({ mode: 'None' }));
  expect(made).toEqual({ token: expect.stringMatching(/^[\w-]{43}$/), tls: undefined });
  expect(await newStore().get(hand)).toEqual(made);
});
