import { beforeEach, describe, expect, test } from 'vitest';

import { NodeClassError, Throttled, Unauthorized } from '#machine/errors.ts';
import { nodeClaims, nodePools } from '#schemas/karpenter/types.ts';
import { secrets } from '#schemas/kubernetes/resource.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';

import { NodePoolController } from '../nodepool/controller.ts';
import { imageNotFound, NodeClassWorld } from '../testing/node-class-world.ts';
import { nodeClaim, nodePool } from '../testing/objects.ts';
import { unavailable } from '../testing/refusals.ts';

let world: NodeClassWorld;

beforeEach(() => {
  world = new NodeClassWorld();
});

describe('a node class whose references all exist', () => {
  test('is Ready at once, with one revision that machines can be made from', async () => {
    await world.apply();
    expect(world.condition('Ready')?.status).toBe('True');
    expect(world.status).toMatchObject({
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
    expect(types.map((type) => world.condition(type)?.status)).toEqual(types.map(() => 'True'));
    expect(world.condition('Stalled')?.status).toBe('False');

    const current = world.current;
    expect(current?.name).toMatch(/^default-[0-9a-f]{10}$/);
    expect(current?.nodeClass).toMatchObject({
      nodeClass: 'default',
      image: { id: 'ami-1' },
      dnsZoneID: 'id-of-machines.example.com',
    });
    expect(world.stored).toHaveLength(1);
    expect(world.stored[0]).toMatchObject({ revision: 1 });
    expect(world.notes.map(({ reason }) => reason)).toEqual(['RevisionReady']);
  });

  test('has an authority made for it, which a second look and a restart keep', async () => {
    await world.apply();
    const before = world.client.peek(secrets, { namespace: world.namespace, name: 'default-ca' });
    expect(before?.type).toBe('kubernetes.io/tls');
    world.restart();
    await world.forwardAndLook(minutes(10));
    const after = world.client.peek(secrets, { namespace: world.namespace, name: 'default-ca' });
    expect(after?.metadata.resourceVersion).toBe(before?.metadata.resourceVersion);
  });

  test('costs no writes and no calls while nothing changes', async () => {
    await world.apply();
    const writes = world.client.writes.length;
    for (let times = 0; times < 5; times++) await world.forwardAndLook(seconds(30));
    expect(world.client.writes).toHaveLength(writes);
    expect(world.clouds.calls.resolve).toHaveLength(1);
    await world.forwardAndLook(minutes(3));
    expect(world.clouds.calls.resolve).toHaveLength(2);
  });

  test('keeps its image when a newer one appears', async () => {
    await world.apply();
    const first = world.current?.name;
    world.clouds.newestImage = 'ami-2';
    world.restart();
    await world.forwardAndLook(minutes(10));
    expect(world.current?.name).toBe(first);
    expect(world.status.image?.id).toBe('ami-1');
  });

  test('gets another revision when its image is gone and the terms find another', async () => {
    await world.apply();
    world.clouds.goneImages.set('ami-1', imageNotFound());
    world.clouds.newestImage = 'ami-2';
    await world.forwardAndLook(minutes(5));
    expect(world.current?.nodeClass.image.id).toBe('ami-2');
    expect(world.stored).toHaveLength(2);
  });

  test('takes up a new subnet without a new revision', async () => {
    await world.apply();
    const first = world.current?.name;
    world.clouds.subnets = [
      ...world.clouds.subnets,
      { id: 'subnet-b', zone: 'eu-central-1b', zoneID: 'euc1-az3' },
    ];
    await world.forwardAndLook(minutes(5));
    expect(world.current?.name).toBe(first);
    expect(world.revisions.get(first ?? '')?.subnets.map(({ id }) => id)).toEqual([
      'subnet-a',
      'subnet-b',
    ]);
  });
});

test('a class whose machines have names that nobody can look up is Ready, and says what that means', async () => {
  await world.apply({ dns: { provider: 'None', zone: 'machines.internal' } });
  expect(world.condition('Ready')?.status).toBe('True');
  expect(world.condition('DNSReady')).toMatchObject({
    status: 'True',
    reason: 'NamesNotPublished',
    message: expect.stringMatching(/names of machines are in no DNS.* \(KPU371\)$/) as string,
  });
  await world.apply();
  expect(world.condition('DNSReady')).toMatchObject({
    status: 'True',
    reason: 'DNSReady',
    message: '',
  });
});

describe('a spec that does not work', () => {
  test('of a new class makes it Stalled and not Ready, with code and reason', async () => {
    world.clouds.failures.resolve = imageNotFound();
    await world.apply();
    const wrong = {
      status: 'False',
      reason: 'ImageNotFound',
      message: 'no image matches (KPU220)',
    };
    expect(world.condition('ImageReady')).toMatchObject(wrong);
    expect(world.condition('Ready')).toMatchObject(wrong);
    expect(world.condition('Stalled')).toMatchObject({ status: 'True', reason: 'ImageNotFound' });
    expect(world.condition('CredentialsReady')?.status).toBe('True'); // the cloud did answer
    expect(world.condition('PlacementReady')?.status).toBe('Unknown');
    expect(world.condition('DNSReady')?.status).toBe('True');
    expect(world.current).toBeUndefined();
    expect(world.notes.map(({ reason, type }) => `${type} ${reason}`)).toEqual([
      'Warning ImageNotFound',
    ]);
  });

  test('leaves the last revision in use, and is taken up when it is mended', async () => {
    await world.apply();
    const stable = world.current;
    world.clouds.failures.chart = new NodeClassError(
      { code: 'KPU260', condition: 'KraftletReady', reason: 'ChartUnavailable' },
      'no such chart',
    );
    await world.apply({ kraftlet: { chart: 'oci://typo' } });
    expect(world.condition('Ready')).toMatchObject({
      status: 'True',
      reason: 'UsingStableRevision',
    });
    expect(world.condition('Stalled')?.status).toBe('True');
    expect(world.condition('UpdateRevisionReady')).toMatchObject({
      status: 'False',
      reason: 'ChartUnavailable',
    });
    expect(world.current).toEqual(stable);
    expect(world.status.updateRevision).not.toBe(stable?.name);
    expect(world.notes.at(-1)).toMatchObject({
      reason: 'ChartUnavailable',
      message: 'no such chart (KPU260)',
    });

    delete world.clouds.failures.chart;
    await world.forwardAndLook(seconds(5));
    expect(world.condition('Ready')).toMatchObject({ status: 'True', reason: 'Ready' });
    expect(world.condition('Stalled')?.status).toBe('False');
    expect(world.current?.name).toBe(world.status.updateRevision);
    expect(world.stored.map(({ revision }) => revision)).toEqual([1, 2]);
  });

  test('whose image is not found leaves revision, image and subnets of the one in use on show', async () => {
    await world.apply();
    const before = world.status;
    world.clouds.failures.resolve = imageNotFound();
    await world.apply({ image: { id: 'ami-typo' } });
    expect(world.condition('Ready')?.reason).toBe('UsingStableRevision');
    const { image, subnets, securityGroups, currentRevision, updateRevision } = world.status;
    expect({ image, subnets, securityGroups, currentRevision, updateRevision }).toEqual({
      image: before.image,
      subnets: before.subnets,
      securityGroups: before.securityGroups,
      currentRevision: before.currentRevision,
      updateRevision: before.currentRevision,
    });
  });

  test('with another image shows the image in use until it can be used itself', async () => {
    await world.apply();
    world.clouds.newestImage = 'ami-2';
    world.clouds.failures.zone = new NodeClassError(
      { code: 'KPU240', condition: 'DNSReady', reason: 'ZoneNotFound' },
      'no such zone',
    );
    await world.apply({ dns: { provider: 'Route53', zone: 'other.example.com' } });
    expect(world.condition('ImageReady')?.status).toBe('True');
    expect(world.status.image?.id).toBe('ami-1');
    delete world.clouds.failures.zone;
    await world.forwardAndLook(seconds(5));
    expect(world.status.image?.id).toBe('ami-2');
  });

  test('whose launch the cloud would refuse is not Ready before any machine is tried, and is so once it may', async () => {
    world.clouds.failures.rehearse = new NodeClassError(
      { code: 'KPU212', condition: 'CredentialsReady', reason: 'LaunchForbidden', canPass: true },
      'UnauthorizedOperation: no',
    );
    await world.apply();
    expect(world.condition('Ready')).toMatchObject({ status: 'False', reason: 'LaunchForbidden' });
    expect(world.condition('CredentialsReady')?.message).toBe('UnauthorizedOperation: no (KPU212)');
    expect(world.condition('Stalled')?.status).toBe('False');

    delete world.clouds.failures.rehearse;
    await world.forwardAndLook(minutes(1));
    expect(world.condition('Ready')?.status).toBe('True');
  });

  test('whose launch the cloud says it would refuse, and may be wrong, is used all the same, and people are told', async () => {
    await world.apply();
    const first = world.status.currentRevision;
    world.clouds.doubt = new NodeClassError(
      {
        code: 'KPU216',
        condition: 'CredentialsReady',
        reason: 'PermissionsMissing',
        canPass: true,
      },
      'lacks compute.disks.create',
    );
    await world.apply({ dns: { provider: 'Route53', zone: 'other.example.com' } });
    expect(world.condition('Ready')?.status).toBe('True');
    expect(world.condition('CredentialsReady')).toMatchObject({
      status: 'True',
      reason: 'PermissionsMissing',
      message: 'lacks compute.disks.create (KPU216)',
    });
    expect(world.status.currentRevision).not.toBe(first);
    expect(world.notes.filter(({ reason }) => reason === 'PermissionsMissing')).toHaveLength(1);

    world.clouds.doubt = undefined;
    await world.forwardAndLook(minutes(5));
    expect(world.condition('CredentialsReady')).toMatchObject({ status: 'True', message: '' });
  });

  test('is judged by no rehearsal that the cloud did not answer', async () => {
    world.clouds.failures.rehearse = new Throttled('slow down');
    await world.apply();
    expect(world.condition('Ready')?.status).toBe('True');
  });

  test('for want of a Secret is not Stalled: the Secret may come a moment later', async () => {
    await world.apply({ platform: { activationSecretRef: { name: 'activation' } } });
    expect(world.condition('CredentialsReady')).toMatchObject({
      status: 'False',
      message:
        'Secret karpenter-unikraft/activation does not exist; it is looked for every few seconds (KPU211)',
    });
    expect(world.condition('Ready')?.status).toBe('False');
    expect(world.condition('Stalled')?.status).toBe('False');
    world.seedSecret('activation', { token: 'secret' });
    await world.forwardAndLook(seconds(5));
    expect(world.condition('Ready')?.status).toBe('True');
  });

  test('that only another spec mends is Stalled even while a Secret is missing too', async () => {
    world.clouds.failures.resolve = imageNotFound();
    await world.apply({ platform: { activationSecretRef: { name: 'activation' } } });
    expect(world.condition('Stalled')).toMatchObject({ status: 'True', reason: 'ImageNotFound' });
  });

  test('that is reverted uses the old revision again, made the newest', async () => {
    await world.apply();
    const first = world.current?.name;
    await world.apply({ dns: { provider: 'Route53', zone: 'other.example.com' } });
    expect(world.current?.name).not.toBe(first);
    world.clouds.newestImage = 'ami-9';
    await world.apply();
    expect(world.current?.name).toBe(first);
    expect(world.stored).toHaveLength(2);
    const again = world.stored.find(({ metadata }) => metadata.name === first);
    expect(again?.revision).toBe(3);
  });

  test('is told all at once', async () => {
    world.clouds.failures.zone = new NodeClassError(
      { code: 'KPU240', condition: 'DNSReady', reason: 'ZoneNotFound' },
      'no such zone',
    );
    await world.apply({ platform: { activationSecretRef: { name: 'activation' } } });
    expect(world.condition('DNSReady')?.reason).toBe('ZoneNotFound');
    expect(world.condition('CredentialsReady')?.reason).toBe('SecretNotFound');
  });

  test('that contradicts itself reaches neither cloud nor registry', async () => {
    await world.apply({ image: {} });
    expect(world.condition('ValidationSucceeded')).toMatchObject({
      status: 'False',
      message: expect.stringMatching(/spec\.image.*\(KPU270\)/),
    });
    expect(world.clouds.calls.resolve).toEqual([]);
    expect(world.condition('Ready')?.status).toBe('False');
  });

  test('is asked about less and less often', async () => {
    world.clouds.failures.resolve = new Unauthorized('no');
    world.clouds.failures.zone = new Unauthorized('no');
    world.clouds.failures.chart = new Unauthorized('no');
    await world.apply();
    await world.clock.forward(seconds(5));
    await world.look();
    await world.clock.forward(seconds(5));
    await world.look();
    expect(world.clouds.calls.resolve).toHaveLength(2);
    expect(world.condition('CredentialsReady')).toMatchObject({
      status: 'False',
      reason: 'Unauthorized',
    });
  });
});

test('a cloud that is busy for a while changes nothing on a class that works', async () => {
  await world.apply();
  const before = world.status;
  world.clouds.failures.resolve = new Throttled('slow down');
  await world.forwardAndLook(minutes(5));
  expect(world.condition('Ready')?.status).toBe('True');
  expect(world.condition('CredentialsReady')?.status).toBe('True');
  expect(world.status.currentRevision).toBe(before.currentRevision);
  expect(world.status.subnets).toEqual(before.subnets);
});

test('a cloud that is busy from the start leaves it open, with the reason', async () => {
  world.clouds.failures.resolve = new Throttled('slow down');
  await world.apply();
  expect(world.condition('Ready')).toMatchObject({ status: 'Unknown', reason: 'Throttled' });
  expect(world.condition('Stalled')?.status).toBe('False');
});

test('a failure that nobody has told apart is shown, and passes', async () => {
  world.clouds.failures.resolve = new TypeError('socket of undefined');
  await world.apply();
  expect(world.condition('CredentialsReady')).toMatchObject({
    status: 'Unknown',
    reason: 'UnexpectedError',
    message: 'TypeError: socket of undefined',
  });
  delete world.clouds.failures.resolve;
  await world.forwardAndLook(seconds(5));
  expect(world.condition('Ready')?.status).toBe('True');
});

test('an API server that fails leaves the status as it is, and the queue tries again', async () => {
  await world.apply();
  const before = world.status;
  await world.clock.forward(minutes(5));
  world.client.fail(({ plural }) => plural === 'secrets', unavailable());
  await expect(world.look()).rejects.toThrow('unable to handle');
  expect(world.status).toEqual(before);
  await world.forwardAndLook(seconds(5));
  expect(world.condition('Ready')?.status).toBe('True');
});

test('machines are counted, and written once a second', async () => {
  await world.apply();
  world.client.seed(nodeClaims, nodeClaim('web-1'));
  await world.look();
  expect(world.status.machines).toBe(0);
  world.client.seed(nodeClaims, nodeClaim('web-2'));
  await world.forwardAndLook(seconds(1));
  expect(world.status.machines).toBe(2);
});

describe('observedGeneration', () => {
  test('waits until each pool shows the new conditions', async () => {
    const pools = new NodePoolController(world.context);
    world.client.seed(nodePools, nodePool());
    await world.apply();
    expect(world.status.observedGeneration).toBeUndefined();
    await pools.reconcile('web');
    await world.look();
    expect(world.status.observedGeneration).toBe(1);

    world.clouds.failures.resolve = imageNotFound();
    await world.apply({ image: { id: 'ami-typo' } });
    expect(world.status.observedGeneration).toBe(1);
    expect(world.condition('Stalled')).toMatchObject({ status: 'True', observedGeneration: 2 });
    await pools.reconcile('web');
    await world.look();
    expect(world.status.observedGeneration).toBe(2);
  });
});
