import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, inject, test } from 'vitest';

import { Authority } from '#pki/authority.ts';
import { fault } from '#sandbox/cloud/wire/faults.ts';
import type { Secret } from '#schemas/kubernetes/core.ts';
import { secrets } from '#schemas/kubernetes/resource.ts';
import { unikraftNodeClasses, type UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';
import { hours, minutes } from '#schemas/time/clock.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';
import { chart, nodeClass } from '#test/world/objects.ts';
import { TestWorld } from '#test/world/test-world.ts';

const namespace = 'karpenter-unikraft';
let world: TestWorld;
let folder: string;

beforeAll(async () => {
  world = await TestWorld.start(inject('tools'));
  folder = await mkdtemp(join(tmpdir(), 'kpu-charts-'));
});
afterAll(async () => {
  await world?.stop();
  await rm(folder, { recursive: true, force: true });
});

test('unknown fields are refused by apply and pruned by create, as of any kind', async () => {
  const usual = nodeClass({}, 'misspelt');
  const object = { ...usual, spec: { ...usual.spec, plattform: { port: 443 } } };

  await expect(world.expectApplied(object)).rejects.toThrow(
    /misspelt: .*\.spec\.plattform: field not declared in schema/,
  );
  const created = await world.client.create(unikraftNodeClasses, object);
  expect(created.spec).not.toHaveProperty('plattform');
  await expectReady('misspelt');
});

test('what can never work is refused on apply, with place and code', async () => {
  await expect(
    world.expectApplied(nodeClass({ deadlines: { launch: '0s' } }, 'hasty')),
  ).rejects.toThrow(/spec\.deadlines\.launch: Invalid value: .*\(KPU119\)/);
});

type Spec = Partial<UnikraftNodeClassSpec>;
interface Mistake {
  readonly spec: () => Spec | Promise<Spec>;
  readonly condition: string;
  readonly reason: string;
  /** Place and code. */
  readonly tells: RegExp;
}

const withImage = (image: UnikraftNodeClassSpec['image']): Spec => ({ image });
const withAws = (aws: object): Spec => {
  const usual = nodeClass().spec.aws;
  return { aws: { ...usual!, ...aws } };
};

const mistakes: Record<string, Mistake> = {
  'an image that does not exist': {
    spec: () => withImage({ id: 'ami-00000000000000000' }),
    condition: 'ImageReady',
    reason: 'ImageNotFound',
    tells: /ami-00000000000000000.*\(KPU220\)/,
  },
  'subnets that do not exist': {
    spec: () => withAws({ subnetSelectorTerms: [{ tags: { team: 'nobody' } }] }),
    condition: 'PlacementReady',
    reason: 'SubnetsNotFound',
    tells: /team.*nobody.*\(KPU230\)/,
  },
  'a zone that does not exist': {
    spec: () => ({ dns: { provider: 'Route53', zone: 'nowhere.example.com' } }),
    condition: 'DNSReady',
    reason: 'ZoneNotFound',
    tells: /nowhere\.example\.com.*\(KPU240\)/,
  },
  'a chart that does not exist': {
    spec: () => ({ kraftlet: { chart: '/no/such/chart', namespace: 'kraftlet' } }),
    condition: 'KraftletReady',
    reason: 'ChartUnavailable',
    tells: /\/no\/such\/chart.*\(KPU260\)/,
  },
  'a chart with a kind that may not come': {
    spec: async () => ({ kraftlet: { chart: await chartWithDaemonSet(), namespace: 'kraftlet' } }),
    condition: 'KraftletReady',
    reason: 'ChartRefused',
    tells: /DaemonSet spy.*\(KPU261\)/,
  },
  'values that its chart cannot render': {
    spec: () => ({ kraftlet: { chart, namespace: 'kraftlet', values: { image: 'latest' } } }),
    condition: 'KraftletReady',
    reason: 'ChartDoesNotRender',
    tells: /spec\.kraftlet\.values: .*image\.name.*\(KPU262\)/s,
  },
  'more memory than there is': {
    spec: () => ({ platform: { overhead: { memory: `${'9'.repeat(29)}Ti` } } }),
    condition: 'ValidationSucceeded',
    reason: 'NodeClassInvalid',
    tells: /spec\.platform\.overhead\.memory.*\(KPU270\)/,
  },
};

test.each(Object.entries(mistakes))(
  '%s: condition and event tell place and code, and a correction is enough',
  async (what, mistake) => {
    const name = what.replaceAll(' ', '-');
    const [broken] = await world.expectApplied(nodeClass(await mistake.spec(), name));
    const { condition: type, reason, tells } = mistake;
    const { message } = await world.expectConditionOf(unikraftNodeClasses, name, type, {
      status: 'False',
      reason,
    });
    expect(message).toMatch(tells);
    await world.expectConditionOf(unikraftNodeClasses, name, 'Ready', { status: 'False', reason });
    expect((await world.expectEvent(broken!, reason)).message).toMatch(tells);

    await world.expectApplied(nodeClass({}, name));

    await expectReady(name);
  },
);

test('an activation Secret that is missing is waited for, by its name', async () => {
  const platform = { activationSecretRef: { name: 'activation' } };
  await world.expectApplied(nodeClass({ platform }, 'unactivated'));
  const { message } = await world.expectConditionOf(
    unikraftNodeClasses,
    'unactivated',
    'CredentialsReady',
    { status: 'False', reason: 'SecretNotFound' },
  );
  expect(message).toMatch(/Secret karpenter-unikraft\/activation does not exist.*\(KPU211\)/);

  await world.client.create(secrets, secret('activation', { token: '' }));
  await world.expectConditionOf(unikraftNodeClasses, 'unactivated', 'CredentialsReady', {
    status: 'False',
    reason: 'ActivationSecretInvalid',
  });
  await world.expectApplied(secret('activation', { token: 'licence' }));
  await expectReady('unactivated');
});

test('so is the Secret of an own CA', async () => {
  const api = { mode: 'PrivateCA' as const, caSecretRef: { name: 'own-ca' } };
  await world.expectApplied(nodeClass({ certificate: { api } }, 'unsigned'));
  const { message } = await world.expectConditionOf(
    unikraftNodeClasses,
    'unsigned',
    'CertificateReady',
    { status: 'False', reason: 'SecretNotFound' },
  );
  expect(message).toMatch(/Secret karpenter-unikraft\/own-ca does not exist.*\(KPU250\)/);

  const options = { commonName: 'own', validity: hours(24 * 365) };
  const { pem } = await Authority.create(new SystemClock(), options);
  await world.expectApplied(
    secret('own-ca', { 'tls.crt': pem.certificate, 'tls.key': pem.privateKey }),
  );
  await expectReady('unsigned');
});

test('a cloud that refuses our credentials is told, asked seldom, and believed again', async () => {
  const code = 'UnauthorizedOperation';
  const { faults } = world.cloud.ec2;
  const allow = faults.next('DescribeImages', fault({ code, status: 403, times: Infinity }));
  await world.expectApplied(nodeClass({}, 'refused'));
  const { message } = await world.expectConditionOf(
    unikraftNodeClasses,
    'refused',
    'CredentialsReady',
    { status: 'False' },
  );
  expect(message).toMatch(/UnauthorizedOperation.*\(KPU\d+\)/);
  const before = world.cloud.ec2.callsOf('DescribeImages').length;
  await world.clock.forward(minutes(1));
  expect(world.cloud.ec2.callsOf('DescribeImages').length - before).toBeLessThanOrEqual(5);

  allow();
  await world.clock.forward(minutes(1));
  await expectReady('refused');
});

const expectReady = async (name: string) =>
  world.expectConditionOf(unikraftNodeClasses, name, 'Ready', { status: 'True' });

function secret(name: string, stringData: Record<string, string>): Secret {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, stringData };
}

async function chartWithDaemonSet(): Promise<string> {
  const own = join(folder, 'with-daemonset');
  await cp(chart, own, { recursive: true });
  const daemonSet = { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name: 'spy' } };
  await writeFile(join(own, 'templates', 'spy.yaml'), JSON.stringify(daemonSet));
  return own;
}
