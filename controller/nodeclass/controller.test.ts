import { beforeEach, describe, expect, test } from 'vitest';

import { getCondition } from '#kube/conditions.ts';
import { NodeClassError, Throttled, Unauthorized } from '#machine/errors.ts';
import { Authority } from '#pki/authority.ts';
import { nodeClaims, nodePools } from '#schemas/karpenter/types.ts';
import type { Condition } from '#schemas/kubernetes/meta.ts';
import { controllerRevisions, secrets } from '#schemas/kubernetes/resource.ts';
import { annotations, finalizers } from '#schemas/names.ts';
import {
  unikraftNodeClasses,
  type UnikraftNodeClassSpec,
  type UnikraftNodeClassStatus,
} from '#schemas/nodeclass/types.ts';
import { hours, minutes, seconds } from '#schemas/time/clock.ts';

import { NodePoolController } from '../nodepool/controller.ts';
import { memoryContext } from '../testing/context.ts';
import { FakeClouds } from '../testing/fake-clouds.ts';
import { nodeClaim, nodeClass, nodeClassSpec, nodePool } from '../testing/objects.ts';
import { NodeClassController } from './controller.ts';
import { Revisions } from './revisions.ts';

let world: ReturnType<typeof memoryContext>;
let clouds: FakeClouds;
let controller: NodeClassController;
let revisions: Revisions;
const { signal } = new AbortController();

beforeEach(() => {
  world = memoryContext();
  clouds = new FakeClouds();
  controller = start();
  revisions = new Revisions(world.context);
});

/** A new process over the same cluster and cloud. */
function start(): NodeClassController {
  return new NodeClassController(world.context, { clouds, releases: clouds.releases });
}

const look = () => controller.reconcile('default', signal);
const classNow = () => world.client.peek(unikraftNodeClasses, { name: 'default' });
const statusNow = (): UnikraftNodeClassStatus => classNow()?.status ?? {};
const conditionNow = (type: string): Condition | undefined =>
  getCondition(statusNow().conditions, type);
const stored = () => world.client.all(controllerRevisions);

/** What `kubectl apply` does. */
async function expectApplied(spec: Partial<UnikraftNodeClassSpec> = {}): Promise<void> {
  if (classNow()) {
    const body = { spec: { ...nodeClassSpec(), ...spec } };
    await world.client.patch(unikraftNodeClasses, { name: 'default' }, { type: 'merge', body });
  } else {
    await world.client.create(unikraftNodeClasses, nodeClass(spec));
  }
  await look();
}

const imageNotFound = (): NodeClassError =>
  new NodeClassError(
    { code: 'KPU220', condition: 'ImageReady', reason: 'ImageNotFound' },
    'no image matches',
  );

async function forwardAndLook(duration: number): Promise<void> {
  await world.clock.forward(duration);
  await look();
}

describe('a node class whose references all exist', () => {
  test('is Ready at once, with one revision that machines can be made from', async () => {
    await expectApplied();
    expect(conditionNow('Ready')?.status).toBe('True');
    expect(statusNow()).toMatchObject({
      observedGeneration: 1,
      image: { id: 'ami-1', architecture: 'amd64' },
      subnets: [{ id: 'subnet-a', zone: 'eu-central-1a' }],
      securityGroups: [{ id: 'sg-1' }],
      machines: 0,
    });
    const types = [
      'ValidationSucceeded',
      'CredentialsReady',
      'ImageReady',
      'PlacementReady',
      'DNSReady',
      'CertificateReady',
      'KraftletReady',
      'UpdateRevisionReady',
    ];
    expect(types.map((type) => conditionNow(type)?.status)).toEqual(types.map(() => 'True'));
    expect(conditionNow('Stalled')?.status).toBe('False');

    const current = revisions.current('default');
    expect(current?.name).toMatch(/^default-[0-9a-f]{10}$/);
    expect(current?.nodeClass).toMatchObject({
      nodeClass: 'default',
      image: { id: 'ami-1' },
      dnsZoneID: 'id-of-machines.example.com',
    });
    expect(stored()).toHaveLength(1);
    expect(stored()[0]).toMatchObject({ revision: 1 });
    expect(world.notes.map(({ reason }) => reason)).toEqual(['RevisionReady']);
  });

  test('has an authority made for it, which a second look and a restart keep', async () => {
    await expectApplied();
    const before = world.client.peek(secrets, { namespace: world.namespace, name: 'default-ca' });
    expect(before?.type).toBe('kubernetes.io/tls');
    controller = start();
    await forwardAndLook(minutes(10));
    const after = world.client.peek(secrets, { namespace: world.namespace, name: 'default-ca' });
    expect(after?.metadata.resourceVersion).toBe(before?.metadata.resourceVersion);
  });

  test('costs no writes and no calls while nothing changes', async () => {
    await expectApplied();
    const writes = world.client.writes.length;
    for (let times = 0; times < 5; times++) await forwardAndLook(seconds(30));
    expect(world.client.writes).toHaveLength(writes);
    expect(clouds.calls.resolve).toHaveLength(1);
    await forwardAndLook(minutes(3));
    expect(clouds.calls.resolve).toHaveLength(2);
  });

  test('keeps its image when a newer one appears', async () => {
    await expectApplied();
    const first = revisions.current('default')?.name;
    clouds.newestImage = 'ami-2';
    controller = start();
    await forwardAndLook(minutes(10));
    expect(revisions.current('default')?.name).toBe(first);
    expect(statusNow().image?.id).toBe('ami-1');
  });

  test('gets another revision when its image is gone and the terms find another', async () => {
    await expectApplied();
    clouds.goneImages.set('ami-1', imageNotFound());
    clouds.newestImage = 'ami-2';
    await forwardAndLook(minutes(5));
    expect(revisions.current('default')?.nodeClass.image.id).toBe('ami-2');
    expect(stored()).toHaveLength(2);
  });

  test('takes up a new subnet without a new revision', async () => {
    await expectApplied();
    const first = revisions.current('default')?.name;
    clouds.subnets = [
      ...clouds.subnets,
      { id: 'subnet-b', zone: 'eu-central-1b', zoneID: 'euc1-az3' },
    ];
    await forwardAndLook(minutes(5));
    expect(revisions.current('default')?.name).toBe(first);
    expect(revisions.get(first ?? '')?.subnets.map(({ id }) => id)).toEqual([
      'subnet-a',
      'subnet-b',
    ]);
  });
});

describe('a spec that does not work', () => {
  test('of a new class makes it Stalled and not Ready, with code and reason', async () => {
    clouds.failures.resolve = imageNotFound();
    await expectApplied();
    const wrong = {
      status: 'False',
      reason: 'ImageNotFound',
      message: 'no image matches (KPU220)',
    };
    expect(conditionNow('ImageReady')).toMatchObject(wrong);
    expect(conditionNow('Ready')).toMatchObject(wrong);
    expect(conditionNow('Stalled')).toMatchObject({ status: 'True', reason: 'ImageNotFound' });
    expect(conditionNow('CredentialsReady')?.status).toBe('True'); // the cloud did answer
    expect(conditionNow('PlacementReady')?.status).toBe('Unknown');
    expect(conditionNow('DNSReady')?.status).toBe('True');
    expect(revisions.current('default')).toBeUndefined();
    expect(world.notes.map(({ reason, type }) => `${type} ${reason}`)).toEqual([
      'Warning ImageNotFound',
    ]);
  });

  test('leaves the last revision in use, and is taken up when it is mended', async () => {
    await expectApplied();
    const stable = revisions.current('default');
    clouds.failures.chart = new NodeClassError(
      { code: 'KPU260', condition: 'KraftletReady', reason: 'ChartUnavailable' },
      'no such chart',
    );
    await expectApplied({ kraftlet: { chart: 'oci://typo' } });
    expect(conditionNow('Ready')).toMatchObject({ status: 'True', reason: 'UsingStableRevision' });
    expect(conditionNow('Stalled')?.status).toBe('True');
    expect(conditionNow('UpdateRevisionReady')).toMatchObject({
      status: 'False',
      reason: 'ChartUnavailable',
    });
    expect(revisions.current('default')).toEqual(stable);
    expect(statusNow().updateRevision).not.toBe(stable?.name);

    delete clouds.failures.chart;
    await forwardAndLook(seconds(5));
    expect(conditionNow('Ready')).toMatchObject({ status: 'True', reason: 'Ready' });
    expect(conditionNow('Stalled')?.status).toBe('False');
    expect(revisions.current('default')?.name).toBe(statusNow().updateRevision);
    expect(stored().map(({ revision }) => revision)).toEqual([1, 2]);
  });

  test('that is reverted uses the old revision again, made the newest', async () => {
    await expectApplied();
    const first = revisions.current('default')?.name;
    await expectApplied({ dns: { provider: 'Route53', zone: 'other.example.com' } });
    expect(revisions.current('default')?.name).not.toBe(first);
    clouds.newestImage = 'ami-9';
    await expectApplied();
    expect(revisions.current('default')?.name).toBe(first);
    expect(stored()).toHaveLength(2);
    const again = stored().find(({ metadata }) => metadata.name === first);
    expect(again?.revision).toBe(3);
  });

  test('is told all at once', async () => {
    clouds.failures.zone = new NodeClassError(
      { code: 'KPU240', condition: 'DNSReady', reason: 'ZoneNotFound' },
      'no such zone',
    );
    await expectApplied({ platform: { activationSecretRef: { name: 'activation' } } });
    expect(conditionNow('DNSReady')?.reason).toBe('ZoneNotFound');
    expect(conditionNow('CredentialsReady')?.reason).toBe('SecretNotFound');
  });

  test('that contradicts itself reaches neither cloud nor registry', async () => {
    await expectApplied({ image: {} });
    expect(conditionNow('ValidationSucceeded')).toMatchObject({
      status: 'False',
      message: expect.stringMatching(/spec\.image.*\(KPU270\)/),
    });
    expect(clouds.calls.resolve).toEqual([]);
    expect(conditionNow('Ready')?.status).toBe('False');
  });

  test('is asked about less and less often', async () => {
    clouds.failures.resolve = new Unauthorized('no');
    clouds.failures.zone = new Unauthorized('no');
    clouds.failures.chart = new Unauthorized('no');
    await expectApplied();
    await world.clock.forward(seconds(5));
    await look();
    await world.clock.forward(seconds(5));
    await look();
    expect(clouds.calls.resolve).toHaveLength(2);
    expect(conditionNow('CredentialsReady')).toMatchObject({
      status: 'False',
      reason: 'Unauthorized',
    });
  });
});

test('a cloud that is busy for a while changes nothing on a class that works', async () => {
  await expectApplied();
  const before = statusNow();
  clouds.failures.resolve = new Throttled('slow down');
  await forwardAndLook(minutes(5));
  expect(conditionNow('Ready')?.status).toBe('True');
  expect(conditionNow('CredentialsReady')?.status).toBe('True');
  expect(statusNow().currentRevision).toBe(before.currentRevision);
  expect(statusNow().subnets).toEqual(before.subnets);
});

test('a cloud that is busy from the start leaves it open, with the reason', async () => {
  clouds.failures.resolve = new Throttled('slow down');
  await expectApplied();
  expect(conditionNow('Ready')).toMatchObject({ status: 'Unknown', reason: 'Throttled' });
  expect(conditionNow('Stalled')?.status).toBe('False');
});

describe('Secrets', () => {
  const withActivation = {
    platform: { activationSecretRef: { name: 'activation', key: 'token' } },
  };
  const seedSecret = (name: string, data: Record<string, string>): void => {
    const encoded = Object.entries(data).map(([key, text]) => [key, btoa(text)]);
    world.client.seed(secrets, {
      metadata: { name, namespace: world.namespace },
      data: Object.fromEntries(encoded),
    });
  };

  test('one that appears later is noticed within seconds', async () => {
    await expectApplied(withActivation);
    expect(conditionNow('Ready')?.reason).toBe('SecretNotFound');
    seedSecret('activation', { token: 'x' });
    for (let times = 0; times < 20; times++) await forwardAndLook(seconds(1));
    expect(conditionNow('Ready')?.status).toBe('True');
  });

  test('one without its key is told apart', async () => {
    seedSecret('activation', { other: 'x' });
    await expectApplied(withActivation);
    expect(conditionNow('CredentialsReady')?.reason).toBe('ActivationSecretInvalid');
  });

  test("the user's own authority is used as it is", async () => {
    const { pem } = await Authority.create(world.clock, { commonName: 'own', validity: hours(24) });
    seedSecret('own-ca', { 'tls.crt': pem.certificate, 'tls.key': pem.privateKey });
    await expectApplied({
      certificate: { api: { mode: 'PrivateCA', caSecretRef: { name: 'own-ca' } } },
    });
    expect(conditionNow('CertificateReady')?.status).toBe('True');
    expect(world.client.all(secrets).map(({ metadata }) => metadata.name)).toEqual(['own-ca']);
  });

  test('an authority whose key belongs to another certificate is refused', async () => {
    const [one, other] = await Promise.all([
      Authority.create(world.clock, { commonName: 'a', validity: hours(24) }),
      Authority.create(world.clock, { commonName: 'b', validity: hours(24) }),
    ]);
    seedSecret('own-ca', { 'tls.crt': one.pem.certificate, 'tls.key': other.pem.privateKey });
    await expectApplied({
      certificate: { api: { mode: 'PrivateCA', caSecretRef: { name: 'own-ca' } } },
    });
    expect(conditionNow('CertificateReady')).toMatchObject({
      reason: 'CASecretInvalid',
      message: expect.stringMatching(/does not belong.*\(KPU250\)/),
    });
  });

  test('a Secret that has our name and is not ours is never taken for an authority, nor replaced', async () => {
    seedSecret('default-ca', { 'tls.crt': 'mine' });
    await expectApplied();
    expect(conditionNow('CertificateReady')?.reason).toBe('CASecretTaken');
    expect(world.client.all(secrets)).toHaveLength(1);
  });
});

describe('observedGeneration', () => {
  test('waits until each pool shows the new conditions', async () => {
    const pools = new NodePoolController(world.context);
    world.client.seed(nodePools, nodePool());
    await expectApplied();
    expect(statusNow().observedGeneration).toBeUndefined();
    await pools.reconcile('web');
    await look();
    expect(statusNow().observedGeneration).toBe(1);

    clouds.failures.resolve = imageNotFound();
    await expectApplied({ image: { id: 'ami-typo' } });
    expect(statusNow().observedGeneration).toBe(1);
    expect(conditionNow('Stalled')).toMatchObject({ status: 'True', observedGeneration: 2 });
    await pools.reconcile('web');
    await look();
    expect(statusNow().observedGeneration).toBe(2);
  });
});

describe('old revisions', () => {
  const zone = (number: number): Partial<UnikraftNodeClassSpec> => ({
    dns: { provider: 'Route53', zone: `z${number}.example.com` },
  });

  test('are kept while a claim names them, ten for a look back, and the rest goes', async () => {
    await expectApplied(zone(0));
    const first = revisions.current('default')?.name ?? '';
    const claim = nodeClaim('web-1');
    claim.metadata = { ...claim.metadata, annotations: { [annotations.revision]: first } };
    world.client.seed(nodeClaims, claim);
    for (let number = 1; number <= 15; number++) await expectApplied(zone(number));
    expect(stored()).toHaveLength(12); // the current one, the claim's and ten
    expect(revisions.get(first)?.dnsZoneID).toBe('id-of-z0.example.com');

    world.client.remove(nodeClaims, { name: 'web-1' });
    await look();
    expect(revisions.get(first)).toBeUndefined();
    expect(stored()).toHaveLength(11);
  });
});

describe('the end of a node class', () => {
  const end = async (): Promise<void> => {
    await world.client.delete(unikraftNodeClasses, { name: 'default' });
    await look();
  };

  test('takes its revisions and its authority with it', async () => {
    await expectApplied();
    await end();
    expect(classNow()).toBeUndefined();
    expect(stored()).toEqual([]);
    expect(world.client.all(secrets)).toEqual([]);
  });

  test('waits for the claims that use it, names them, and comes right after the last', async () => {
    await expectApplied();
    for (let number = 1; number <= 12; number++) {
      world.client.seed(nodeClaims, nodeClaim(`web-${String(number).padStart(2, '0')}`));
    }
    await end();
    expect(conditionNow('Deleting')).toMatchObject({
      status: 'True',
      reason: 'WaitingForNodeClaims',
      message:
        '12 NodeClaims still use it: web-01, web-02, web-03, web-04, web-05, web-06, web-07, web-08, web-09, web-10 and 2 more (KPU202)',
    });
    expect(revisions.current('default')).toBeDefined();
    for (const { metadata } of world.client.all(nodeClaims))
      world.client.remove(nodeClaims, metadata);
    await look();
    expect(classNow()).toBeUndefined();
    expect(stored()).toEqual([]);
  });

  test('is not fooled by a cache that has not seen the newest claim', async () => {
    await expectApplied();
    world.caches.nodeClaims.fallBehind();
    world.client.seed(nodeClaims, nodeClaim('web-1'));
    await end();
    expect(classNow()?.metadata.finalizers).toEqual([finalizers.nodeClass]);
  });

  test('in the foreground leaves revisions readable as long as claims need them', async () => {
    await expectApplied();
    const name = revisions.current('default')?.name ?? '';
    world.client.seed(nodeClaims, nodeClaim('web-1'));
    // What the garbage collector does to dependents of an owner that is deleted in the foreground.
    await world.client.delete(controllerRevisions, { namespace: world.namespace, name });
    await end();
    expect(revisions.get(name)).toBeDefined();
    world.client.remove(nodeClaims, { name: 'web-1' });
    await look();
    expect(stored()).toEqual([]);
  });

  test("keeps the user's own authority", async () => {
    const { pem } = await Authority.create(world.clock, { commonName: 'own', validity: hours(24) });
    world.client.seed(secrets, {
      metadata: { name: 'own-ca', namespace: world.namespace },
      data: { 'tls.crt': btoa(pem.certificate), 'tls.key': btoa(pem.privateKey) },
    });
    await expectApplied({
      certificate: { api: { mode: 'PrivateCA', caSecretRef: { name: 'own-ca' } } },
    });
    await end();
    expect(classNow()).toBeUndefined();
    expect(world.client.all(secrets)).toHaveLength(1);
  });

  test('forced by hand still leaves nothing behind', async () => {
    await expectApplied();
    world.client.remove(unikraftNodeClasses, { name: 'default' });
    await look();
    expect(stored()).toEqual([]);
    expect(world.client.all(secrets)).toEqual([]);
  });
});
