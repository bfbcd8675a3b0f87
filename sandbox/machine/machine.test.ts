import { request } from 'node:https';

import { test as base, describe, expect, vi } from 'vitest';

import { minutes, seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import type { MachineScript } from './health.ts';
import { LoopbackBlock } from './loopback.ts';
import { LoneMachine, quotas, userDataWith } from './testing/lone-machine.ts';
import { BadUserData, readUserData } from './user-data.ts';

const usual: MachineScript = {
  boot: seconds(10),
  unknown: seconds(20),
  degraded: seconds(30),
  health: 'healthy',
};

/** A machine in a time that stands still, and a caller that trusts only its CA. */
class World {
  readonly clock = new FakeClock();
  readonly lone: LoneMachine;

  constructor(lone: LoneMachine) {
    this.lone = lone;
  }

  async powerOn(script: Partial<MachineScript> = {}): Promise<void> {
    await this.lone.powerOn({ ...usual, ...script }, this.clock);
  }

  async call(
    method: string,
    path: string,
    { token = 'secret', body }: { token?: string; body?: object } = {},
  ): Promise<{ status: number | undefined; body: any }> {
    const { promise, resolve, reject } = Promise.withResolvers<{
      status: number | undefined;
      body: any;
    }>();
    const sent = request(
      {
        method,
        path,
        port: this.lone.port,
        host: this.lone.address,
        servername: this.lone.fqdn,
        agent: false,
        ca: this.lone.authority.pem.certificate,
        headers: token === '' ? {} : { authorization: `Bearer ${token}` },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('end', () => resolve({ status: response.statusCode, body: JSON.parse(text) }));
      },
    );
    sent.on('error', reject);
    sent.end(body && JSON.stringify(body));
    return promise;
  }

  async checks(): Promise<unknown> {
    return (await this.call('GET', '/v1/healthz')).body.data.checks;
  }

  /** Boots it and waits for its port. */
  async up(script: Partial<MachineScript> = {}): Promise<void> {
    await this.powerOn(script);
    await this.clock.forward(seconds(10));
    await vi.waitFor(() => this.checks());
  }
}

const test = base.extend<{ world: World }>({
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the pattern to know what a fixture needs
  world: async ({}, use) => {
    const lone = await LoneMachine.make();
    await use(new World(lone));
    await lone.stop();
  },
});

describe('health', () => {
  test('comes up from unknown over degraded to healthy', async ({ world }) => {
    await world.powerOn();
    await expect(world.checks()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await world.clock.forward(seconds(10));
    await expect
      .poll(() => world.checks().catch(() => 'no answer'))
      .toEqual({ images: 'unknown', systemd: 'unknown' });
    await world.clock.forward(seconds(20));
    expect(await world.checks()).toEqual({ images: 'healthy', systemd: 'degraded' });
    await world.clock.forward(seconds(30));
    expect(await world.checks()).toEqual({ images: 'healthy', systemd: 'healthy' });
  });

  test('may stay degraded for ever', async ({ world }) => {
    await world.up({ health: 'degraded' });
    await world.clock.forward(minutes(60));
    expect(await world.checks()).toEqual({ images: 'healthy', systemd: 'degraded' });
  });

  test('is not to be had from a machine that died or never listens', async ({ world }) => {
    await world.up({ diesAfter: minutes(5) });
    await world.clock.forward(minutes(5));
    await expect.poll(() => world.checks().catch((error) => error.code)).toBe('ECONNREFUSED');
    await world.powerOn({ health: 'mute' });
    await world.clock.forward(minutes(5));
    await expect(world.checks()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});

describe('the platform API', () => {
  test('answers nobody without the token', async ({ world }) => {
    await world.up();
    for (const token of ['', 'wrong!']) {
      // oxlint-disable-next-line no-await-in-loop -- two calls
      expect(await world.call('GET', '/v1/healthz', { token })).toMatchObject({
        status: 401,
        body: { status: 'error', errors: [{ status: 401 }] },
      });
    }
    expect(await world.call('GET', '/v2')).toMatchObject({
      status: 404,
      body: { message: 'No API endpoint' },
    });
  });

  test('shows the quotas of its user data and what guests use of them', async ({ world }) => {
    await world.up();
    const guest = { name: 'web-0', image: 'nginx', vcpus: 2, memory_mb: 512 };
    const made = await world.call('POST', '/v1/instances', { body: guest });
    expect(made.body.data.instances).toMatchObject([{ status: 'success', name: 'web-0' }]);

    const { body } = await world.call('GET', '/v1/users/quotas');
    expect(body.data.quotas).toMatchObject([
      {
        status: 'success',
        hard: {
          instances: 3,
          live_instances: 8,
          live_vcpus: 8,
          live_memory_mb: 4096,
          total_volume_mb: 1024,
        },
        used: { instances: 1, live_instances: 2, live_vcpus: 2, live_memory_mb: 512 },
        limits: { max_vcpus: 8 },
      },
    ]);
    await world.call('DELETE', `/v1/instances/${made.body.data.instances[0].uuid}`);
    expect((await world.call('GET', '/v1/instances')).body.data.instances).toEqual([]);
  });

  test('refuses a guest over a quota, in a 200', async ({ world }) => {
    await world.up();
    const guest = { image: 'nginx', vcpus: 5, memory_mb: 128 };
    await world.call('POST', '/v1/instances', { body: { ...guest, name: 'one' } });
    const second = await world.call('POST', '/v1/instances', { body: { ...guest, name: 'two' } });
    expect(second).toMatchObject({
      status: 200,
      body: { status: 'error', data: { instances: [{ message: 'Quota exceeded' }] } },
    });
  });
});

describe('user data', () => {
  const right = { fqdn: 'api.web', port: 443, tls: { certificate: 'c', privateKey: 'k' } };
  const users = [{ name: 'a', token: 'b', quotas: { vcpus: 1.5 } }];
  const file = '/etc/unikraft/machine.json';

  test('is read', () => {
    expect(readUserData(userDataWith(right))).toMatchObject({
      fqdn: 'api.web',
      port: 443,
      users: [{ quotas }],
    });
  });

  test.for<[string, string]>([
    ['is not #cloud-config', '{}'],
    ['is not YAML', '#cloud-config\na: [}'],
    ['write_files is not a list', '#cloud-config\n{}'],
    ['has no /etc/unikraft/machine.json', '#cloud-config\nwrite_files: []'],
    ['machine.json is not JSON', `#cloud-config\nwrite_files: [{path: ${file}, content: "{"}]`],
    ['v2 is not known', userDataWith({ ...right, apiVersion: 'v2' })],
    ['users[0].quotas.vcpus is not a whole number', userDataWith({ ...right, users })],
    ['tls is not an object', userDataWith({ ...right, tls: 'none' })],
  ])('that %s is refused', ([reason, userData]) => {
    expect(() => readUserData(userData)).toThrow(BadUserData);
    expect(() => readUserData(userData)).toThrow(reason);
  });
});

test('blocks of addresses are never shared', async () => {
  const blocks = await Promise.all(Array.from({ length: 20 }, async () => LoopbackBlock.claim()));
  const first = blocks.map((block) => block.next(new Set()));
  expect(new Set(first).size).toBe(20);
  expect(blocks[0]!.next(new Set())).not.toBe(first[0]);
  await Promise.all(blocks.map(async (block) => block.release()));
});
