import { expect, test } from 'vitest';

import { nodeClaims } from '#schemas/karpenter/types.ts';
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';

import { Freshest } from './freshest.ts';
import { memoryContext } from './testing/context.ts';
import { nodeClaim } from './testing/objects.ts';

function setUp() {
  const { client, caches } = memoryContext();
  const born = client.seed(nodeClaims, nodeClaim('web-1'));
  const fresh = new Freshest<NodeClaim>(caches.nodeClaims);
  const write = async (text: string): Promise<Live<NodeClaim>> => {
    const body = { metadata: { annotations: { text } } };
    const written = await client.patch(nodeClaims, { name: 'web-1' }, { type: 'merge', body });
    fresh.wrote(written);
    return written;
  };
  const read = () => fresh.get('web-1')?.metadata.annotations?.['text'];
  return { client, cache: caches.nodeClaims, fresh, born, write, read };
}

test('what this process wrote is read before the cache has seen it', async () => {
  const { cache, write, read } = setUp();
  cache.fallBehind();
  await write('ours');
  expect(read()).toBe('ours');
  cache.catchUp();
  expect(read()).toBe('ours');
});

test('what somebody else wrote later wins, as soon as the cache has it', async () => {
  const { client, cache, write, read } = setUp();
  cache.fallBehind();
  await write('ours');
  const body = { metadata: { annotations: { text: 'theirs' } } };
  await client.patch(nodeClaims, { name: 'web-1' }, { type: 'merge', body });
  expect(read()).toBe('ours');
  cache.catchUp();
  expect(read()).toBe('theirs');
});

test('versions are compared as numbers, so the tenth is newer than the ninth', async () => {
  const { cache, fresh, born, write, read } = setUp();
  for (let index = 0; index < 12; index++) await write(`${index}`);
  fresh.wrote({ ...born, metadata: { ...born.metadata, resourceVersion: '9' } });
  expect(read()).toBe('11');
  cache.fallBehind();
  await write('12');
  expect(read()).toBe('12');
});

test('an object of the same name that came after is another one', async () => {
  const { client, cache, write, read } = setUp();
  cache.fallBehind();
  await write('ours');
  client.remove(nodeClaims, { name: 'web-1' });
  client.seed(nodeClaims, nodeClaim('web-1'));
  cache.catchUp();
  expect(read()).toBeUndefined();
});

test('an answer that comes after the object has gone brings nothing back', async () => {
  const { client, fresh, write } = setUp();
  const last = await write('last');
  client.remove(nodeClaims, { name: 'web-1' });
  fresh.wrote(last);
  expect(fresh.get('web-1')).toBeUndefined();
});
