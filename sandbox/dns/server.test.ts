import { Resolver } from 'node:dns/promises';

import { test as base, expect } from 'vitest';

import { answer, type ServedZone } from './answer.ts';
import { DnsServer } from './server.ts';

const zone: ServedZone = {
  name: 'machines.sandbox.test',
  sets: [
    {
      name: 'machines.sandbox.test',
      type: 'SOA',
      ttl: 900,
      values: ['ns-1.sandbox.test. hostmaster.sandbox.test. 1 7200 900 1209600 60'],
    },
    { name: 'api.web.machines.sandbox.test', type: 'A', ttl: 60, values: ['127.64.0.1'] },
    {
      name: 'api.web.machines.sandbox.test',
      type: 'TXT',
      ttl: 60,
      values: [String.raw`"owner=\"me\"" "second"`],
    },
    { name: '*.web.machines.sandbox.test', type: 'A', ttl: 60, values: ['127.64.0.2'] },
    {
      name: 'long.machines.sandbox.test',
      type: 'TXT',
      ttl: 60,
      values: Array.from({ length: 5 }, (_, n) => `"${n}${'x'.repeat(200)}"`),
    },
  ],
};

const test = base.extend<{ resolver: Resolver }>({
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the pattern to know what a fixture needs
  resolver: async ({}, use) => {
    const server = new DnsServer(() => [zone]);
    await server.start();
    const resolver = new Resolver({ timeout: 1000, tries: 1 });
    resolver.setServers([server.address]);
    await use(resolver);
    await server.stop();
  },
});

test('names resolve to addresses and texts', async ({ resolver }) => {
  expect(await resolver.resolve4('API.web.machines.sandbox.test')).toEqual(['127.64.0.1']);
  expect(await resolver.resolveTxt('api.web.machines.sandbox.test')).toEqual([
    ['owner="me"', 'second'],
  ]);
});

test('a wildcard answers for what is under it, not for what exists beside it', async ({
  resolver,
}) => {
  expect(await resolver.resolve4('shop.web.machines.sandbox.test')).toEqual(['127.64.0.2']);
  expect(await resolver.resolve4('a.b.web.machines.sandbox.test')).toEqual(['127.64.0.2']);
  await expect(resolver.resolve4('x.api.web.machines.sandbox.test')).rejects.toMatchObject({
    code: 'ENOTFOUND',
  });
});

test('an absent name, an absent type and a foreign zone are told apart', async ({ resolver }) => {
  const none = resolver.resolve4('api.gone.machines.sandbox.test');
  await expect(none).rejects.toMatchObject({ code: 'ENOTFOUND' });
  const noSuchType = resolver.resolve6('api.web.machines.sandbox.test');
  await expect(noSuchType).rejects.toMatchObject({ code: 'ENODATA' });
  const foreign = resolver.resolve4('example.com');
  await expect(foreign).rejects.toMatchObject({ code: 'EREFUSED' });
});

test('what is too long for UDP comes over TCP', async ({ resolver }) => {
  expect(await resolver.resolveTxt('long.machines.sandbox.test')).toHaveLength(5);
});

test('a "no" carries the SOA, and a name between others exists', () => {
  const between = answer({ type: 'A', name: 'web.machines.sandbox.test' }, [zone]);
  expect(between).toMatchObject({ code: 'NOERROR', answers: [], authorities: [{ type: 'SOA' }] });
  const absent = answer({ type: 'A', name: 'gone.machines.sandbox.test' }, [zone]);
  expect(absent).toMatchObject({ code: 'NXDOMAIN', authorities: [{ data: { minimum: 60 } }] });
});
