import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { test as base, expect, vi } from 'vitest';

import { milliseconds } from '#schemas/time/clock.ts';

import type { MachineScript } from '../machine/health.ts';
import { LoneMachine, quotas } from '../machine/testing/lone-machine.ts';
import { PlatformClient, PlatformRefusal, QuotaExceeded } from './platform-client.ts';
import { readSettings } from './settings.ts';

const atOnce: MachineScript = {
  boot: milliseconds(0),
  unknown: milliseconds(0),
  degraded: milliseconds(0),
  health: 'healthy',
};

class World {
  readonly machine: LoneMachine;
  readonly #clients: PlatformClient[] = [];

  constructor(machine: LoneMachine) {
    this.machine = machine;
  }

  client(env: Record<string, string> = {}): PlatformClient {
    const { url, token, certificates, dnsServer } = this.machine;
    const settings = readSettings({
      KRAFTLET_UKC_DEFAULT_METRO: url,
      KRAFTLET_UKC_TOKEN: token,
      SSL_CERT_DIR: certificates,
      SANDBOX_DNS: dnsServer,
      ...env,
    });
    const client = new PlatformClient(settings);
    this.#clients.push(client);
    return client;
  }

  async stop(): Promise<void> {
    for (const client of this.#clients) client.close();
    await this.machine.stop();
  }
}

const test = base.extend<{ world: World }>({
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the pattern to know what a fixture needs
  world: async ({}, use) => {
    const world = new World(await LoneMachine.make());
    await world.machine.powerOn(atOnce);
    await vi.waitFor(async () => world.client().isHealthy());
    await use(world);
    await world.stop();
  },
});

test('health, quotas and guests by the name of the machine', async ({ world }) => {
  const client = world.client();
  expect(await client.isHealthy()).toBe(true);
  expect((await client.quotas()).hard).toMatchObject({
    instances: quotas.instances,
    live_vcpus: quotas.vcpus,
    live_memory_mb: quotas.memoryMiB,
  });
  await client.start({ name: 'a', image: 'nginx', vcpus: 1, memory_mb: 128, tags: ['x'] });
  const [guest] = await client.guests();
  expect(guest).toMatchObject({ name: 'a', tags: ['x'] });
  await client.remove(guest!.uuid);
  expect(await client.guests()).toEqual([]);
});

test('a name that the hosts file has is looked up nowhere else', async ({ world }) => {
  const { url, address } = world.machine;
  const { hostname } = new URL(url);
  const lost = { SANDBOX_DNS: '127.0.0.1:1' };
  const told = world.client({ ...lost, SANDBOX_HOSTS: `${address} other ${hostname}\n` });
  expect(await told.isHealthy()).toBe(true);
  await expect(
    world.client({ ...lost, SANDBOX_HOSTS: `${address} other` }).isHealthy(),
  ).rejects.toThrow(hostname);
});

test('a guest without room is told apart from other refusals', async ({ world }) => {
  const client = world.client();
  const guest = { image: 'nginx', vcpus: 5, memory_mb: 128, tags: [] };
  await client.start({ ...guest, name: 'a' });
  await expect(client.start({ ...guest, name: 'b' })).rejects.toThrow(QuotaExceeded);
  const odd = client.start({ ...guest, name: 'c', vcpus: 0 });
  await expect(odd).rejects.toThrow('POST /v1/instances: Invalid instance');
});

test('a wrong token is refused', async ({ world }) => {
  const client = world.client({ KRAFTLET_UKC_TOKEN: 'other' });
  await expect(client.isHealthy()).rejects.toThrow(PlatformRefusal);
  await expect(client.isHealthy()).rejects.toThrow('Unauthorized');
});

test('only the CAs of SSL_CERT_DIR are trusted, unless nothing is checked', async ({ world }) => {
  const empty = await mkdtemp(join(tmpdir(), 'no-ca-'));
  const strict = world.client({ SSL_CERT_DIR: empty });
  await expect(strict.isHealthy()).rejects.toMatchObject({
    code: 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  });
  const lax = world.client({ SSL_CERT_DIR: empty, KRAFTLET_ALLOW_INSECURE: 'true' });
  expect(await lax.isHealthy()).toBe(true);
  await rm(empty, { recursive: true });
});

test('a name that does not resolve is an error, not a wait', async ({ world }) => {
  const client = world.client({ KRAFTLET_UKC_DEFAULT_METRO: 'https://gone.machines.sandbox.test' });
  await expect(client.isHealthy()).rejects.toMatchObject({ code: 'ENOTFOUND' });
});
