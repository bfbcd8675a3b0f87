import { expect, test } from 'vitest';

import { isAlreadyExists, isConflict, isNotFound } from '#kube/client/errors.ts';
import { nodeClaims, type NodeClaim } from '#schemas/karpenter/types.ts';
import type { ConfigMap } from '#schemas/kubernetes/core.ts';
import { configMaps } from '#schemas/kubernetes/resource.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { MemoryClient } from './memory-client.ts';
import { MemoryInformer } from './memory-informer.ts';

const key = { namespace: 'default', name: 'settings' };
const settings = (data: Record<string, string>): ConfigMap => ({ metadata: { ...key }, data });
const claim = (finalizers: string[] = []): NodeClaim => ({
  metadata: { name: 'web-1', finalizers },
  spec: { nodeClassRef: { group: 'g', kind: 'k', name: 'n' }, requirements: [] },
});
const failure = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

test('of two writers with the same version one is told of the conflict', async () => {
  const client = new MemoryClient(new FakeClock());
  const born = await client.create(configMaps, settings({ a: '1' }));
  const writes = ['2', '3'].map((a) => client.replace(configMaps, { ...born, data: { a } }));

  const [first, second] = await Promise.all(writes.map(failure));

  expect(first).toBeUndefined();
  expect(isConflict(second)).toBe(true);
  expect(client.peek(configMaps, key)?.data).toEqual({ a: '2' });
});

test('what is there is not made again, what is not there is not found', async () => {
  const client = new MemoryClient(new FakeClock());
  expect(isNotFound(await failure(client.get(configMaps, key)))).toBe(true);
  await client.create(configMaps, settings({}));
  expect(isAlreadyExists(await failure(client.create(configMaps, settings({}))))).toBe(true);
});

test('status is written through its subresource only, and leaves the generation alone', async () => {
  const client = new MemoryClient(new FakeClock());
  const status = { nodeName: 'web-1' };
  await client.create(nodeClaims, { ...claim(), status });
  const merge = { type: 'merge', body: { status } } as const;

  await client.patch(nodeClaims, { name: 'web-1' }, merge);
  expect(client.peek(nodeClaims, { name: 'web-1' })?.status).toBeUndefined();

  await client.patch(nodeClaims, { name: 'web-1' }, merge, { subresource: 'status' });
  expect(client.peek(nodeClaims, { name: 'web-1' })).toMatchObject({
    status,
    metadata: { generation: 1 },
  });
});

test('an object with finalizers goes when the last one is taken off', async () => {
  const client = new MemoryClient(new FakeClock());
  const cache = new MemoryInformer(client, nodeClaims, new FakeClock());
  await client.create(nodeClaims, claim(['karpenter.sh/termination']));

  await client.delete(nodeClaims, { name: 'web-1' });
  expect(cache.get('web-1')?.metadata.deletionTimestamp).toBeDefined();

  await client.patch(
    nodeClaims,
    { name: 'web-1' },
    { type: 'json', body: [{ op: 'remove', path: '/metadata/finalizers/0' }] },
  );
  expect(cache.get('web-1')).toBeUndefined();
});

test('a watch shows the present objects, their end, and what comes after', async () => {
  const client = new MemoryClient(new FakeClock());
  await client.create(configMaps, settings({ a: '1' }));
  const stop = new AbortController();
  const seen: string[] = [];
  for await (const event of client.watch(configMaps, {
    sendInitialEvents: true,
    timeoutSeconds: 300,
    signal: stop.signal,
  })) {
    seen.push(event.type);
    if (event.type === 'BOOKMARK')
      await client.patch(configMaps, key, { type: 'merge', body: { data: { a: null } } });
    if (event.type === 'MODIFIED') await client.delete(configMaps, key);
    if (event.type === 'DELETED') stop.abort();
  }
  expect(seen).toEqual(['ADDED', 'BOOKMARK', 'MODIFIED', 'DELETED']);
});

test('a scripted fault comes before the effect', async () => {
  const client = new MemoryClient(new FakeClock());
  client.fail(({ verb }) => verb === 'create', new Error('gone away'));
  await expect(client.create(configMaps, settings({}))).rejects.toThrow('gone away');
  expect(client.all(configMaps)).toEqual([]);
  await client.create(configMaps, settings({}));
});
