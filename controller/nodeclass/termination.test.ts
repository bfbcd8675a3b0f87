import { beforeEach, describe, expect, test } from 'vitest';

import { Authority } from '#pki/authority.ts';
import { nodeClaims } from '#schemas/karpenter/types.ts';
import { controllerRevisions, secrets } from '#schemas/kubernetes/resource.ts';
import { finalizers } from '#schemas/names.ts';
import { unikraftNodeClasses } from '#schemas/nodeclass/types.ts';
import { hours } from '#schemas/time/clock.ts';

import { NodeClassWorld } from '../testing/node-class-world.ts';
import { nodeClaim } from '../testing/objects.ts';

let world: NodeClassWorld;

beforeEach(() => {
  world = new NodeClassWorld();
});

describe('the end of a node class', () => {
  test('takes its revisions and its authority with it', async () => {
    await world.apply();
    await world.end();
    expect(world.nodeClass).toBeUndefined();
    expect(world.stored).toEqual([]);
    expect(world.client.all(secrets)).toEqual([]);
  });

  test('waits for the claims that use it, names them, and comes right after the last', async () => {
    await world.apply();
    for (let number = 1; number <= 12; number++) {
      world.client.seed(nodeClaims, nodeClaim(`web-${String(number).padStart(2, '0')}`));
    }
    await world.end();
    expect(world.condition('Deleting')).toMatchObject({
      status: 'True',
      reason: 'WaitingForNodeClaims',
      message:
        '12 NodeClaims still use it: web-01, web-02, web-03, web-04, web-05, web-06, web-07, web-08, web-09, web-10 and 2 more. ' +
        'It goes with the last of them: delete the NodePools that use it, or the NodeClaims themselves (KPU202)',
    });
    expect(world.condition('Ready')).toMatchObject({ status: 'False', reason: 'Terminating' });
    expect(world.notes.at(-1)).toMatchObject({
      type: 'Warning',
      reason: 'WaitingForNodeClaims',
      message: world.condition('Deleting')?.message,
    });
    expect(world.current).toBeDefined();
    for (const { metadata } of world.client.all(nodeClaims))
      world.client.remove(nodeClaims, metadata);
    await world.look();
    expect(world.nodeClass).toBeUndefined();
    expect(world.stored).toEqual([]);
  });

  test('is not fooled by a cache that has not seen the newest claim', async () => {
    await world.apply();
    world.caches.nodeClaims.fallBehind();
    world.client.seed(nodeClaims, nodeClaim('web-1'));
    await world.end();
    expect(world.nodeClass?.metadata.finalizers).toEqual([finalizers.nodeClass]);
  });

  test('in the foreground leaves revisions readable as long as claims need them', async () => {
    await world.apply();
    const name = world.current?.name ?? '';
    world.client.seed(nodeClaims, nodeClaim('web-1'));
    // What the garbage collector does to dependents of an owner that is deleted in the foreground.
    await world.client.delete(controllerRevisions, { namespace: world.namespace, name });
    await world.end();
    expect(world.revisions.get(name)).toBeDefined();
    world.client.remove(nodeClaims, { name: 'web-1' });
    await world.look();
    expect(world.stored).toEqual([]);
  });

  test("keeps the user's own authority", async () => {
    const { pem } = await Authority.create(world.clock, { commonName: 'own', validity: hours(24) });
    world.client.seed(secrets, {
      metadata: { name: 'own-ca', namespace: world.namespace },
      data: { 'tls.crt': btoa(pem.certificate), 'tls.key': btoa(pem.privateKey) },
    });
    await world.apply({
      certificate: { api: { mode: 'PrivateCA', caSecretRef: { name: 'own-ca' } } },
    });
    await world.end();
    expect(world.nodeClass).toBeUndefined();
    expect(world.client.all(secrets)).toHaveLength(1);
  });

  test('forced by hand still leaves nothing behind', async () => {
    await world.apply();
    world.client.remove(unikraftNodeClasses, { name: 'default' });
    await world.look();
    expect(world.stored).toEqual([]);
    expect(world.client.all(secrets)).toEqual([]);
  });
});
