import { decodeProtectedHeader, flattenedVerify, type FlattenedJWSInput } from 'jose';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { CertificateFailed } from '#machine/errors.ts';
import { secrets } from '#schemas/kubernetes/resource.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';

import { AcmeWorld } from './testing/acme-world.ts';
import { problem, type FakeAuthority, type Scripted } from './testing/fake-authority.ts';

let world: AcmeWorld;
let authority: FakeAuthority;

beforeEach(async () => {
  world = await AcmeWorld.start();
  ({ authority } = world);
});
afterEach(() => authority.stop());

const key = Buffer.from('a key of thirty-two bytes or so!');
const binding = { keyID: 'customer-1', keySecretRef: { name: 'eab' } };
const refusal = (status: number, type: string, detail: string): Scripted => ({
  status,
  body: problem(type, detail),
});

/** As a class is looked at while it is not ready: every few seconds, for an hour. */
async function lookForAnHour(): Promise<void> {
  for (let times = 0; times < 720; times++) {
    // oxlint-disable-next-line no-await-in-loop -- one look after the other
    await world.memory.clock.forward(seconds(5));
    // oxlint-disable-next-line no-await-in-loop
    await world.check();
  }
}

describe('an authority that opens accounts for its customers alone', () => {
  test('is told whose it is, by the key that it gave out, whichever way that is spelled', async () => {
    const spellings = [key.toString('base64url'), `${key.toString('base64')}\n`];
    for (const secret of spellings) {
      world.seedSecret('eab', { secret });
      world.acme = { externalAccountBinding: binding };
      world.restart();
      expect(await world.check()).toBeUndefined();
      const { payload } = authority.posted.at(-1)!;
      const bound = payload['externalAccountBinding'] as FlattenedJWSInput;
      const url = `${authority.url}/account`;
      expect(decodeProtectedHeader(bound)).toEqual({ alg: 'HS256', kid: 'customer-1', url });
      const signed = await flattenedVerify(bound, key);
      expect(JSON.parse(Buffer.from(signed.payload).toString())).toMatchObject({ kty: 'EC' });
    }
  });

  test('says so, and what to set is said beside it', async () => {
    authority.accounts = () => refusal(403, 'externalAccountRequired', 'no binding');
    const told = await world.check();
    expect(told).toMatchObject({ code: 'KPU366', reason: 'AuthorityRefuses', canPass: true });
    expect(String(told)).toMatch(/no binding; set certificate\.api\.acme\.externalAccountBinding/);
  });

  test.each(['unauthorized', 'malformed', 'badSignatureAlgorithm'])(
    'refuses a wrong key (%s), is asked seldom, and at once when the Secret is corrected',
    async (type) => {
      world.seedSecret('eab', { secret: 'd3JvbmcgaW4gZWFjaCBiaXQ' });
      world.acme = { externalAccountBinding: binding };
      authority.accounts = () => refusal(401, type, 'no such key');
      const told = String(await world.check());
      expect(told).toMatch(/no such key; check key id customer-1 .* Secret eab holds the key/);
      expect(told).not.toContain('d3Jvbmcg');
      await lookForAnHour();
      expect(authority.count('/account')).toBeLessThanOrEqual(7);
      expect(await world.check()).toMatchObject({ code: 'KPU366' });

      authority.accounts = () => ({ status: 201 });
      world.seedSecret('eab', { secret: key.toString('base64url') });
      expect(await world.check()).toBeUndefined();
    },
  );

  test('is not asked while the Secret is missing, or holds no key', async () => {
    world.acme = { externalAccountBinding: binding };
    expect(String(await world.check())).toMatch(/Secret \S+\/eab does not exist/);
    world.seedSecret('eab', { secret: 'no key at all' });
    expect(await world.check()).toMatchObject({ code: 'KPU366', reason: 'SecretInvalid' });
    expect(String(await world.check())).not.toContain('no key at all');
    expect(authority.asked).toEqual([]);
  });

  test('has an account for each of its customers', async () => {
    world.seedSecret('eab', { secret: key.toString('base64url') });
    await world.check();
    for (const keyID of ['customer-1', 'customer-2', 'customer-1']) {
      world.acme = { externalAccountBinding: { ...binding, keyID } };
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await world.check();
    }
    expect(world.accounts).toHaveLength(3);
  });
});

describe('an account', () => {
  test('that the authority has forgotten is opened again, once', async () => {
    expect(await world.check()).toBeUndefined();
    authority.orders = () => refusal(400, 'accountDoesNotExist', 'never heard of it');
    const told = await world.outcomeOf('web-1');
    expect(told).toBeInstanceOf(CertificateFailed);
    expect(authority.count('/account')).toBe(2);
    expect(authority.count('/order')).toBe(2);
    expect(world.accounts).toHaveLength(1);
  });

  const closed = 'Account is not valid, has status "deactivated"';
  test.each<[string, Pick<FakeAuthority, 'accounts' | 'account'>]>([
    [
      'and refuses to open it again',
      {
        accounts: () => refusal(403, 'unauthorized', closed),
        account: () => refusal(403, 'unauthorized', closed),
      },
    ],
    [
      'and says its status',
      {
        accounts: () => ({ status: 200, body: { status: 'deactivated' } }),
        account: () => ({ status: 200, body: { status: 'deactivated' } }),
      },
    ],
    [
      'and opens it as if nothing were',
      {
        accounts: () => ({ status: 200, body: {} }),
        account: () => refusal(401, 'unauthorized', closed),
      },
    ],
  ])('that the authority has closed, %s, is told, and left alone', async (_, answers) => {
    expect(await world.check()).toBeUndefined();
    Object.assign(authority, answers);
    authority.orders = () => refusal(403, 'unauthorized', closed);
    const told = String(await world.outcomeOf('web-1'));
    const [name] = world.accounts;
    expect(told).toMatch(new RegExp(`deactivated.*delete Secret \\S+/${name}: another one`));
    expect(await world.check()).toMatchObject({ code: 'KPU366', reason: 'AuthorityRefuses' });
    const before = authority.count('/order');
    for (const machine of ['web-2', 'web-3']) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect(await world.outcomeOf(machine)).toBeInstanceOf(CertificateFailed);
    }
    expect(authority.count('/order')).toBe(before);

    const { namespace, client } = world.memory;
    client.remove(secrets, { namespace, name: name! });
    authority.accounts = () => ({ status: 201, body: { status: 'valid' } });
    expect(await world.check()).toBeUndefined();
    expect(world.accounts).toEqual([name]);
  });

  test('that may not have one name has not been closed', async () => {
    authority.orders = () => refusal(403, 'unauthorized', 'example.com is not yours');
    expect(String(await world.outcomeOf('web-1'))).toMatch(/example\.com is not yours$/);
    expect(await world.check()).toBeUndefined();
    await world.memory.clock.forward(minutes(1));
    expect(await world.check()).toBeUndefined();
  });
});
