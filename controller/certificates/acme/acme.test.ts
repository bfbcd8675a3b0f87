import { afterEach, beforeEach, expect, test } from 'vitest';

import { CertificateFailed, CertificateLimited } from '#machine/errors.ts';
import { hours, minutes } from '#schemas/time/clock.ts';

import { roomAt } from './limits.ts';
import { AcmeWorld } from './testing/acme-world.ts';
import { problem, type FakeAuthority } from './testing/fake-authority.ts';

let world: AcmeWorld;
let authority: FakeAuthority;

beforeEach(async () => {
  world = await AcmeWorld.start();
  ({ authority } = world);
});
afterEach(() => authority.stop());

const ordersAsked = (): number => authority.count('/order');

test('T31: an authority that has had enough is left alone for as long as it says, by class and machines alike', async () => {
  const body = problem('rateLimited', 'too many certificates (50) already issued');
  authority.orders = () => ({ status: 429, headers: { 'retry-after': '7200' }, body });
  const limited = await world.outcomeOf('web-1');
  expect(limited).toBeInstanceOf(CertificateLimited);
  expect(limited).toMatchObject({ code: 'KPU365', next: 'slow' });
  const before = authority.asked.length;

  for (const name of ['web-1', 'web-2', 'web-3']) {
    await expect(world.source.certificateFor(world.request(name))).rejects.toThrow(
      /left alone for 120 min: too many certificates \(50\) already issued/,
    );
  }
  expect(await world.check()).toMatchObject({
    condition: 'CertificateReady',
    code: 'KPU365',
    canPass: true,
  });
  await world.memory.clock.forward(minutes(119));
  await expect(world.source.certificateFor(world.request('web-1'))).rejects.toThrow(
    CertificateLimited,
  );
  expect(authority.asked).toHaveLength(before);

  await world.memory.clock.forward(minutes(2));
  await world.outcomeOf('web-1');
  expect(ordersAsked()).toBe(2);
});

test('without Retry-After it is left alone for an hour', async () => {
  authority.orders = () => ({ status: 429, body: problem('rateLimited', 'slow down') });
  await world.outcomeOf('web-1');
  await world.memory.clock.forward(hours(1) - minutes(1));
  await expect(world.source.certificateFor(world.request('web-1'))).rejects.toThrow(
    CertificateLimited,
  );
  expect(ordersAsked()).toBe(1);
});

test('what it refuses is told in its own words, and a name is no reason to leave it alone', async () => {
  authority.orders = () => ({
    status: 403,
    body: problem('rejectedIdentifier', 'example.com is on our list'),
  });
  const refused = await world.outcomeOf('web-1');
  expect(refused).toBeInstanceOf(CertificateFailed);
  expect(String(refused)).toMatch(/The authority says: example\.com is on our list/);
  await world.outcomeOf('web-2');
  expect(ordersAsked()).toBe(2);
  expect(await world.check()).toBeUndefined();
});

test('the account is one Secret, which a restart uses again', async () => {
  authority.orders = () => ({ status: 500 });
  await world.outcomeOf('web-1');
  world.restart();
  await world.check();
  expect(world.accounts).toEqual([expect.stringMatching(/^acme-account-[0-9a-f]{10}$/)]);
});

test('certificates of the last seven days count, and each leaves room when it is so old', async () => {
  const { clock } = world.memory;
  const stamps = [0, 24, 48].map((at) => new Date(clock.now() + hours(at)).toISOString());
  await clock.forward(hours(72));
  expect(roomAt(stamps, 4, clock)).toBe(clock.now());
  expect(roomAt(stamps, 3, clock) - clock.now()).toBe(hours(24 * 7 - 72));
  expect(roomAt(stamps, 1, clock) - clock.now()).toBe(hours(24 * 7 - 24));
  await clock.forward(hours(24 * 7));
  expect(roomAt(stamps, 1, clock)).toBe(clock.now());
});
