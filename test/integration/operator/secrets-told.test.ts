import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, inject, test } from 'vitest';

import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { events, secrets } from '#schemas/kubernetes/resource.ts';
import { labels } from '#schemas/names.ts';
import { nodeClass, standaloneClaim } from '#test/world/objects.ts';
import { TestWorld } from '#test/world/test-world.ts';

let world: TestWorld;

beforeAll(async () => {
  world = await TestWorld.start(inject('tools'));
});
afterAll(async () => {
  await world?.stopOperator();
  await world?.world.stop(); // the test world's own end would fail, as it should
});

test('every world looks for the secrets of its machines in logs and Events, and finds a planted one', async () => {
  await world.expectUsable(nodeClass());
  const [claim] = (await world.expectApplied(standaloneClaim('web-1'))) as [Live<NodeClaim>];
  await world.expectCondition(claim, 'PlatformHealthy', { status: 'True' });
  const { items } = await world.client.list(secrets, { labelSelector: labels.claimUid });
  const of = (key: string): string =>
    Buffer.from(items.find(({ data }) => data?.[key])?.data?.[key] ?? '', 'base64').toString();
  const [token, key] = [of('token'), of('tls.key')];
  expect([token.length, key.length]).toEqual([43, expect.any(Number)]);

  const { secretsTold } = world.world;
  await secretsTold.expectNone();

  const encoded = Buffer.from(`kraftlet:${token}`).toString('base64');
  secretsTold.hear('controller', `{"msg":"Basic ${encoded}"}`);
  await appendFile(join(world.world.run.dir, 'logs', 'webhook.log'), `tried ${token}\n`);
  await world.client.create(events, {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { namespace: 'default', name: 'planted' },
    involvedObject: { kind: 'NodeClaim', name: claim.metadata.name },
    reason: 'Planted',
    message: `cannot use ${key.split('\n')[1]}`,
    type: 'Warning',
  });

  const failure = await secretsTold.expectNone().catch((error: Error) => error.message);
  expect(failure).toMatch(/^Secret \S+-credentials token in log of controller$/m);
  expect(failure).toMatch(/^Secret \S+-credentials token in log of webhook$/m);
  expect(failure).toMatch(/^Secret \S+-credentials tls.key in Event Planted default\/planted$/m);
  expect(failure).not.toContain(token.slice(0, 12));
});
