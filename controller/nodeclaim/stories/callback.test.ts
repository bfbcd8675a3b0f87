import { beforeEach, expect, test } from 'vitest';

import { CreateError, OutcomeUnknown } from '#machine/errors.ts';
import { secrets } from '#schemas/kubernetes/resource.ts';
import { labels } from '#schemas/names.ts';
import { minutes } from '#schemas/time/clock.ts';

import { textIn } from '../../read-secret.ts';
import { bootstrapUrl } from '../../testing/bootstrap-world.ts';
import { ClaimWorld, noLeaks } from '../../testing/claim-world.ts';

/** Launches of machines that call for their secrets. */

let world: ClaimWorld;
beforeEach(async () => {
  world = await ClaimWorld.make();
  world.useSpec({
    bootstrap: { mode: 'Callback', callback: { url: bootstrapUrl } },
    deadlines: { launch: '1h' },
  });
});

const credentials = () =>
  world.client.all(secrets).find(({ metadata }) => metadata.labels?.[labels.claimUid]);

test('such a machine is told where to call, and nothing that lasts', async () => {
  await world.claim();
  await world.until(() => world.cloud.made.length > 0);
  const secret = credentials();
  const told = world.cloud.made[0]?.request.userData ?? '';
  const read = (key: string): string => (secret ? textIn(secret, key) : '');

  expect(told).toContain(`${bootstrapUrl}/v1/bootstrap`);
  expect(told).toContain(read('bootstrap-token'));
  expect(told).not.toContain(read('token'));
  expect(told).not.toMatch(/PRIVATE KEY/);
  expect(Object.keys(secret?.data ?? {}).toSorted()).toEqual(
    ['bootstrap-ca.crt', 'bootstrap-token', 'ca.crt', 'token'].toSorted(),
  );
  expect(secret).toMatchObject({ immutable: false });

  await world.delete();
  await world.gone();
  expect(world.leaks()).toEqual(noLeaks);
});

test('a launch that is repeated is the same launch, whoever repeats it', async () => {
  const unheard = new OutcomeUnknown('socket hang up');
  world.cloud.launchFaults.push(unheard, unheard, 'answer lost');
  await world.claim();
  await world.until(() => world.cloud.launches.length > 1);
  world.restart();
  await world.until(() => world.condition('Launched')?.status === 'True');
  expect(new Set(world.cloud.launches.map(({ userData }) => userData)).size).toBe(1);
  expect(world.cloud.launches.length).toBeGreaterThan(2);
  expect(world.cloud.made).toHaveLength(1);
});

test('one that could only come up too late to call is not launched: another claim is tried', async () => {
  const denied = () => new CreateError('Blocked', 'the account is blocked', 'retry');
  world.cloud.launchFaults.push(...Array.from({ length: 5000 }, denied));
  await world.claim();
  await world.until(() => world.cloud.launches.length > 0);
  await world.clock.forward(minutes(14));
  await world.look();
  const tries = world.cloud.launches.length;
  await world.clock.forward(minutes(2));
  await world.gone();

  expect(world.cloud.launches).toHaveLength(tries);
  expect(world.notes).toContainEqual(
    expect.objectContaining({
      reason: 'BootstrapTokenExpired',
      message: expect.stringMatching(/another machine is tried \(KPU386\)$/),
    }),
  );
  expect(world.leaks()).toEqual(noLeaks);
});
