import { beforeEach, expect, test } from 'vitest';

import { ClaimWorld } from '../testing/claim-world.ts';

let world: ClaimWorld;
beforeEach(async () => {
  world = await ClaimWorld.make();
});

const normal = () => world.notes.filter(({ type }) => type === 'Normal');
const told = (reason: string): string | undefined =>
  normal().find((note) => note.reason === reason)?.message;

test('a machine tells its life in order, each step once, with the facts', async () => {
  await world.claim();
  await world.initialized();
  expect(normal().map(({ reason }) => reason)).toEqual([
    'CertificateReady',
    'Launched',
    'InstanceRunning',
    'DNSReady',
    'PlatformHealthy',
    'KraftletInstalled',
    'Registered',
    'Initialized',
  ]);
  const node = world.nodes[0]?.metadata.name ?? '';
  expect(told('Launched')).toMatch(
    /^Instance i-1 \(m\S+\) is launched in eu-central-1a from image ami-1$/,
  );
  expect(told('InstanceRunning')).toMatch(/^Instance i-1 runs at \d+\.\d+\.\d+\.\d+/);
  expect(told('DNSReady')).toMatch(new RegExp(`^api\\.${node}\\.\\S+ resolves to the machine$`));
  expect(told('Registered')).toBe(`Node ${node} is registered`);
  expect(told('Initialized')).toMatch(/ is ready with cpu \d+, memory \S+, pods \d+$/);
});

test('a restart tells nothing again', async () => {
  await world.claim();
  await world.until(() => world.condition('DNSReady')?.status === 'True');
  world.notes.length = 0;
  world.restart();
  await world.initialized();
  expect(told('Launched')).toBeUndefined();
  expect(told('Initialized')).toBeDefined();
});

test('its end is told too', async () => {
  await world.claim();
  await world.initialized();
  world.bindPod('cart-0');
  world.notes.length = 0;
  await world.delete();
  await world.gone();
  expect(told('Drained')).toMatch(/^No Pod is left to wait for on /);
});
