import { expect, test } from 'vitest';

import { silentLogger } from '#kube/log.ts';
import { Authority } from '#pki/authority.ts';
import type { PemPair } from '#pki/certificate.ts';
import type { Secret } from '#schemas/kubernetes/core.ts';
import { minutes } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { CaBundle } from './ca-bundle.ts';
import { GivenCertificate } from './given-certificate.ts';

const names = ['webhook.test.svc'];
const clock = new FakeClock();
const authority = await Authority.create(clock, { commonName: 'x', validity: minutes(60) });
const issue = async (name = 'webhook.test.svc') =>
  authority.issue({ names: [name], validity: minutes(30) });

function secretOf({ certificate, privateKey }: PemPair): Secret {
  const encode = (text: string): string => Buffer.from(text).toString('base64');
  return { data: { 'tls.crt': encode(certificate), 'tls.key': encode(privateKey) } };
}

class World {
  secret: Secret | undefined;
  readonly served: string[] = [];
  readonly warned: unknown[] = [];
  readonly certificate: GivenCertificate;

  constructor() {
    const bundle = Object.assign(Object.create(CaBundle.prototype) as CaBundle, {
      read: async () => ({ bundles: ['CA'], hooks: 3 }),
    });
    this.certificate = new GivenCertificate({
      from: 'system/tls',
      seen: () => this.secret,
      names,
      bundle,
      serve: ({ certificate }) => void this.served.push(certificate),
      clock,
      log: { ...silentLogger, warn: (facts) => void this.warned.push(facts) },
    });
  }
}

test('a certificate that is not there yet is waited for, and served once it is', async () => {
  const world = new World();
  await world.certificate.look();
  expect(world.certificate.trouble).toBe('Secret system/tls is not there');
  const pair = await issue();
  world.secret = secretOf(pair);
  await world.certificate.look();
  await world.certificate.look();
  expect(world.certificate.trouble).toBeUndefined();
  expect(world.served).toEqual([pair.certificate]);
  expect([world.certificate.live, world.certificate.hooks]).toEqual([['CA'], 3]);
});

test('a renewed one is served from then on; one that is half written, or for somebody else, is not', async () => {
  const world = new World();
  const [first, second, foreign] = [await issue(), await issue(), await issue('other.test.svc')];
  for (const pair of [first, { ...second, privateKey: first.privateKey }, foreign, second]) {
    world.secret = secretOf(pair);
    await world.certificate.look(); // oxlint-disable-line no-await-in-loop -- as time goes by
    expect(world.certificate.trouble).toBeUndefined();
  }
  expect(world.served).toEqual([first.certificate, second.certificate]);
  expect(world.warned).toEqual([
    { because: expect.stringContaining('does not belong') as string },
    { because: expect.stringContaining('does not cover webhook.test.svc') as string },
  ]);
});

test('a Secret that is deleted takes nothing away from what is served', async () => {
  const world = new World();
  world.secret = secretOf(await issue());
  await world.certificate.look();
  world.secret = undefined;
  await world.certificate.look();
  expect(world.certificate.trouble).toBeUndefined();
  expect(world.served).toHaveLength(1);
});
