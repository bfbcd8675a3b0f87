import { beforeEach, describe, expect, test } from 'vitest';

import { ApiError } from '#kube/client/errors.ts';
import { certificatePrint } from '#pki/chain.ts';
import { newChain, type Chain } from '#pki/testing/chains.ts';
import { nodePools, type Budget } from '#schemas/karpenter/types.ts';
import type { ControllerRevision } from '#schemas/kubernetes/core.ts';
import type { ObjectMeta } from '#schemas/kubernetes/meta.ts';
import { controllerRevisions, nodes, pods, secrets } from '#schemas/kubernetes/resource.ts';
import { annotations, labels } from '#schemas/names.ts';
import { unikraftNodeClasses, type UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';
import { hours, minutes, type Duration } from '#schemas/time/clock.ts';

import { ClaimWorld, revisionName } from '../../testing/claim-world.ts';
import { nodeClaim, nodePool } from '../../testing/objects.ts';

/** Certificates of 30 hours: two thirds of their lives are over after 20. */
const short: Partial<UnikraftNodeClassSpec> = {
  certificate: { api: { mode: 'PrivateCA', duration: '30h' } },
};

let world: ClaimWorld;
beforeEach(async () => {
  world = await ClaimWorld.make();
});

async function machine(name: string, rest: Parameters<ClaimWorld['claim']>[0] = {}): Promise<void> {
  await world.claim(rest, name);
  await world.initialized(name);
}

/** A look each hour. */
async function pass(time: Duration): Promise<void> {
  for (let left = time; left > 0; left -= hours(1)) {
    // oxlint-disable-next-line no-await-in-loop -- one hour after the other
    await world.clock.forward(Math.min(left, hours(1)));
    // oxlint-disable-next-line no-await-in-loop -- as above
    await world.renew();
  }
}

const isLeaving = (name: string): boolean =>
  world.find(name)?.metadata.deletionTimestamp !== undefined;
const told = (reason: string): string[] =>
  world.notes.filter((note) => note.reason === reason).map(({ message }) => message);
const isOf = (name: string, { labels: own }: ObjectMeta): boolean =>
  own?.[labels.claimUid] === world.find(name)?.metadata.uid;
const budgets = (...list: Budget[]): void => {
  world.client.seed(nodePools, nodePool({ disruption: { consolidateAfter: '5s', budgets: list } }));
};

describe('a machine whose certificate gets old', () => {
  beforeEach(() => {
    world.useSpec(short);
    budgets({ nodes: '100%' });
  });

  test('is replaced after two thirds of its life, and costs nothing before', async () => {
    await machine('web-1');
    const writes = world.client.calls.length;
    await pass(hours(19));
    expect(world.client.calls).toHaveLength(writes);
    await pass(hours(1));
    expect(world.condition('Drifted')).toMatchObject({
      status: 'True',
      reason: 'CertificateExpiring',
      message: expect.stringMatching(/^Its certificate ends at 2026-.*\(KPU369\)$/),
    });
    expect(isLeaving('web-1')).toBe(true);
    expect(told('DisruptionTerminating')).toContainEqual(
      expect.stringMatching(/^Disrupting: Drifted\. Its certificate ends at/),
    );
  });

  test('is known also to a process that did not launch it', async () => {
    await machine('web-1');
    await world.clock.forward(hours(20));
    world.restart();
    await world.renew();
    expect(isLeaving('web-1')).toBe(true);
  });

  test('goes alone, however many have to and whatever the budgets allow', async () => {
    await machine('web-1');
    await machine('web-2');
    await world.clock.forward(hours(20));
    await world.renew();
    await pass(hours(1));
    expect([isLeaving('web-1'), isLeaving('web-2')]).toEqual([true, false]);
    expect(world.condition('Drifted', 'web-2')?.status).toBe('True');
    expect(told('DisruptionBlocked')).toEqual([
      'Is to be replaced (CertificateExpiring), and stays: another machine is being replaced (KPU369)',
    ]);
    await world.gone('web-1');
    await world.renew();
    expect(isLeaving('web-2')).toBe(true);
  });

  describe('keeps no other one from its renewal', () => {
    beforeEach(async () => {
      world.client.seed(nodePools, { ...nodePool(), metadata: { name: 'batch' } });
      await machine('web-1');
      await machine('web-2', { metadata: { labels: { [labels.nodePool]: 'batch' } } });
      await world.clock.forward(hours(20));
      world.restart();
    });

    test('when its own cannot be read', async () => {
      const [first] = world.client.all(secrets).filter(({ metadata }) => isOf('web-1', metadata));
      const data = { ...first!.data, 'tls.crt': btoa('-----BEGIN NOTHING-----') };
      world.client.seed(secrets, { ...first!, data });
      await pass(hours(1));
      expect([isLeaving('web-1'), isLeaving('web-2')]).toEqual([false, true]);
    });

    test.each(['get secrets', 'patch nodeclaims', 'delete nodeclaims'])(
      'when the API server refuses to %s of it, however often',
      async (what) => {
        const own = world.client.all(secrets).find(({ metadata }) => isOf('web-1', metadata));
        const keys = ['web-1', `${world.namespace}/${own?.metadata.name}`];
        const refused = new ApiError({ verb: 'GET', path: '/' }, { code: 403 }, {});
        world.client.fail(
          ({ verb, plural, key }) => `${verb} ${plural}` === what && keys.includes(key),
          refused,
          Infinity,
        );
        await pass(hours(1));
        expect([isLeaving('web-1'), isLeaving('web-2')]).toEqual([false, true]);
      },
    );
  });

  test('waits for the budgets of its reason, and for those of no other', async () => {
    budgets({ nodes: '0', reasons: ['Drifted'] });
    await machine('web-1');
    await pass(hours(22));
    expect(isLeaving('web-1')).toBe(false);
    expect(told('DisruptionBlocked')[0]).toMatch(
      /the budgets allow no disruption for reason Drifted/,
    );
    budgets({ nodes: '0', reasons: ['Empty'] }, { nodes: '1' });
    await pass(hours(1));
    expect(isLeaving('web-1')).toBe(true);
  });

  /** Sets whether the Node of a machine is ready. */
  const ready = (name: string, status: 'True' | 'Unknown'): void => {
    const node = world.client.peek(nodes, { name: world.find(name)?.status?.nodeName ?? '' })!;
    const others = (node.status?.conditions ?? []).filter(({ type }) => type !== 'Ready');
    const conditions = [...others, { type: 'Ready', status, reason: '', message: '' }];
    world.client.seed(nodes, { ...node, status: { ...node.status, conditions } });
  };

  test('waits while another machine that is not ready uses the budget', async () => {
    budgets({ nodes: '1' });
    await machine('web-1');
    const annotated = { [annotations.doNotDisrupt]: 'true' }; // it is not to go itself
    await machine('web-2', { metadata: { annotations: annotated } });
    ready('web-2', 'Unknown');
    await pass(hours(21));
    expect([isLeaving('web-1'), isLeaving('web-2')]).toEqual([false, false]);
    expect(told('DisruptionBlocked')).toContainEqual(
      expect.stringMatching(/allow no disruption for reason Drifted/),
    );
    ready('web-2', 'True');
    await pass(hours(1));
    expect([isLeaving('web-1'), isLeaving('web-2')]).toEqual([true, false]);
  });

  test('goes before older ones when it is not ready: nobody loses by it', async () => {
    budgets({ nodes: '1' });
    await machine('web-1');
    await machine('web-2');
    ready('web-2', 'Unknown');
    await pass(hours(21));
    expect([isLeaving('web-1'), isLeaving('web-2')]).toEqual([false, true]);
  });

  test('waits until another one could be made', async () => {
    await machine('web-1');
    const { status, ...rest } = world.client.peek(unikraftNodeClasses, { name: 'default' })!;
    world.client.seed(unikraftNodeClasses, { ...rest, status: {} });
    await pass(hours(22));
    expect(isLeaving('web-1')).toBe(false);
    expect(told('DisruptionBlocked')[0]).toMatch(/no machine can be made of its node class/);
    world.client.seed(unikraftNodeClasses, { ...rest, ...(status && { status }) });
    await pass(hours(1));
    expect(isLeaving('web-1')).toBe(true);
  });

  test('stays where it or a Pod on it asks to, unless its claim bounds how long', async () => {
    await machine('web-1');
    const asks = {
      name: 'cart-0',
      namespace: 'shop',
      annotations: { [annotations.doNotDisrupt]: 'true' },
    };
    world.bindPod('cart-0', { metadata: asks });
    await pass(hours(22));
    expect(isLeaving('web-1')).toBe(false);
    expect(told('DisruptionBlocked')[0]).toMatch(/Pod shop\/cart-0 asks not to be disrupted/);
    world.client.remove(pods, { namespace: 'shop', name: 'cart-0' });
    const [node] = world.nodes;
    const guarded = { ...node!.metadata, annotations: { [annotations.doNotDisrupt]: 'true' } };
    world.client.seed(nodes, { ...node!, metadata: guarded });
    await pass(hours(1));
    expect(isLeaving('web-1')).toBe(false);
    world.client.seed(nodes, node!);
    await pass(hours(1));
    expect(isLeaving('web-1')).toBe(true);
  });

  test('does not wait for a Pod for longer than terminationGracePeriod lets it', async () => {
    const { spec } = nodeClaim('web-1');
    await machine('web-1', { spec: { ...spec, terminationGracePeriod: '1h' } });
    const asks = {
      name: 'cart-0',
      namespace: 'shop',
      annotations: { [annotations.doNotDisrupt]: 'true' },
    };
    world.bindPod('cart-0', { metadata: asks });
    await pass(hours(20));
    expect(isLeaving('web-1')).toBe(true);
  });

  test('that nobody would make again, having no pool, stays and says so', async () => {
    await machine('web-1');
    world.client.remove(nodePools, { name: 'web' });
    await pass(hours(22));
    expect(isLeaving('web-1')).toBe(false);
    expect(world.condition('Drifted')?.reason).toBe('CertificateExpiring');
  });
});

test('a certificate that ends with its authority is followed by none, since that would end no later', async () => {
  budgets({ nodes: '100%' });
  await machine('web-1');
  await world.clock.forward(hours(24 * 300));
  await world.renew();
  expect(world.condition('Drifted')).toBeUndefined();
  expect(isLeaving('web-1')).toBe(false);
});

describe('a certificate of the user’s own', () => {
  const zone = 'machines.example.com';
  let first: Chain;
  let second: Chain;
  beforeEach(async () => {
    [first, second] = await Promise.all([
      newChain(world.clock, [`*.${zone}`], hours(60)),
      newChain(world.clock, [`*.${zone}`], hours(600)),
    ]);
    budgets({ nodes: '100%' });
    world.useSpec({
      dns: { provider: 'Route53', zone, nameTemplate: '{{node}}.{{zone}}' },
      certificate: { api: { mode: 'SecretRef', secretRef: { name: 'own' } } },
    });
    put(first);
    classSees(first);
    await machine('web-1');
  });

  function put({ whole, root }: Chain): void {
    const data = { 'tls.crt': whole.certificate, 'tls.key': whole.privateKey, 'ca.crt': root };
    const encoded = Object.entries(data).map(([key, text]) => [key, btoa(text)]);
    const metadata = { name: 'own', namespace: world.namespace };
    world.client.seed(secrets, { metadata, data: Object.fromEntries(encoded) });
  }

  /** What the node class controller makes of it: a revision of its own for each certificate. */
  function classSees({ whole }: Chain, name = revisionName): void {
    const { namespace } = world;
    const stored = world.client.peek(controllerRevisions, { namespace, name: revisionName })!;
    const certificate = certificatePrint(whole.certificate);
    const data = { ...(stored.data as object), certificate };
    const revision: ControllerRevision = { metadata: { name, namespace }, revision: 2, data };
    world.client.seed(controllerRevisions, revision);
    const { metadata, spec } = world.client.peek(unikraftNodeClasses, { name: 'default' })!;
    const status = { currentRevision: name };
    world.client.seed(unikraftNodeClasses, { metadata: { name: metadata.name }, spec, status });
  }

  test('is theirs to renew: however old it is, another machine would get the same', async () => {
    await pass(hours(59));
    expect(world.condition('Drifted')).toBeUndefined();
    expect(isLeaving('web-1')).toBe(false);
  });

  test('that was renewed replaces the machines that show the old one, and no newer one', async () => {
    put(second);
    await machine('web-2'); // it has the new one before the class has looked
    await pass(minutes(1));
    expect(world.condition('Drifted', 'web-2')).toBeUndefined();
    classSees(second, 'default-r2');
    await pass(minutes(1));
    expect(world.condition('Drifted')).toMatchObject({
      status: 'True',
      reason: 'CertificateChanged',
    });
    expect(world.condition('Drifted', 'web-2')).toBeUndefined();
    expect([isLeaving('web-1'), isLeaving('web-2')]).toEqual([true, false]);
  });

  test('that comes back before a machine could go lets it stay', async () => {
    budgets({ nodes: '0' });
    classSees(second, 'default-r2');
    await pass(minutes(1));
    expect(world.condition('Drifted')?.status).toBe('True');
    classSees(first, 'default-r1');
    await pass(minutes(1));
    expect(world.condition('Drifted')).toBeUndefined();
  });
});
