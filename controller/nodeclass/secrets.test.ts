import { beforeEach, describe, expect, test } from 'vitest';

import { Authority } from '#pki/authority.ts';
import { secrets } from '#schemas/kubernetes/resource.ts';
import { hours, seconds } from '#schemas/time/clock.ts';

import { NodeClassWorld } from '../testing/node-class-world.ts';
import { NodeClassSecrets } from './secrets.ts';

let world: NodeClassWorld;

beforeEach(() => {
  world = new NodeClassWorld();
});

describe('Secrets', () => {
  const withActivation = {
    platform: { activationSecretRef: { name: 'activation', key: 'token' } },
  };
  test('one that appears later is noticed within seconds', async () => {
    await world.apply(withActivation);
    expect(world.condition('Ready')?.reason).toBe('SecretNotFound');
    world.seedSecret('activation', { token: 'x' });
    for (let times = 0; times < 20; times++) await world.forwardAndLook(seconds(1));
    expect(world.condition('Ready')?.status).toBe('True');
  });

  test('one without its key is told apart', async () => {
    world.seedSecret('activation', { other: 'x' });
    await world.apply(withActivation);
    expect(world.condition('CredentialsReady')?.reason).toBe('ActivationSecretInvalid');
  });

  test("the user's own authority is used as it is", async () => {
    const { pem } = await Authority.create(world.clock, { commonName: 'own', validity: hours(24) });
    world.seedSecret('own-ca', { 'tls.crt': pem.certificate, 'tls.key': pem.privateKey });
    await world.apply({
      certificate: { api: { mode: 'PrivateCA', caSecretRef: { name: 'own-ca' } } },
    });
    expect(world.condition('CertificateReady')?.status).toBe('True');
    expect(world.client.all(secrets).map(({ metadata }) => metadata.name)).toEqual(['own-ca']);
  });

  test('an authority whose key belongs to another certificate is refused', async () => {
    const [one, other] = await Promise.all([
      Authority.create(world.clock, { commonName: 'a', validity: hours(24) }),
      Authority.create(world.clock, { commonName: 'b', validity: hours(24) }),
    ]);
    world.seedSecret('own-ca', { 'tls.crt': one.pem.certificate, 'tls.key': other.pem.privateKey });
    await world.apply({
      certificate: { api: { mode: 'PrivateCA', caSecretRef: { name: 'own-ca' } } },
    });
    expect(world.condition('CertificateReady')).toMatchObject({
      reason: 'CASecretInvalid',
      message: expect.stringMatching(/does not belong.*\(KPU250\)/),
    });
  });

  test('a Secret that has our name and is not ours is never taken for an authority, nor replaced', async () => {
    world.seedSecret('default-ca', { 'tls.crt': 'mine' });
    await world.apply();
    expect(world.condition('CertificateReady')?.reason).toBe('CASecretTaken');
    expect(world.client.all(secrets)).toHaveLength(1);
  });
});

describe('the key of dynamic updates', () => {
  const tsig = { name: 'kpu', secretRef: { name: 'dns-key' } };
  const read = async (given: Parameters<NodeClassSecrets['tsigKey']>[0] = tsig) =>
    new NodeClassSecrets(world.client, world.namespace, world.clock).tsigKey(given);

  test('is read as tsig-keygen prints it, with HMAC-SHA256 unless another is named', async () => {
    world.seedSecret('dns-key', { secret: 'c2VjcmV0LXNlY3JldA==\n' });
    const secret = Buffer.from('secret-secret');
    await expect(read()).resolves.toEqual({ name: 'kpu', algorithm: 'hmac-sha256', secret });
    await expect(read({ ...tsig, algorithm: 'hmac-sha512' })).resolves.toMatchObject({
      algorithm: 'hmac-sha512',
    });
  });

  test('that is not there, or is none, is said to be so and may come', async () => {
    await expect(read()).rejects.toMatchObject({
      reason: 'SecretNotFound',
      condition: 'DNSReady',
      canPass: true,
    });
    for (const wrong of ['', 'not base64!', 'short']) {
      world.seedSecret('dns-key', { secret: wrong });
      // oxlint-disable-next-line no-await-in-loop -- one Secret, one reading after the other
      await expect(read()).rejects.toMatchObject({ reason: 'TsigSecretInvalid', code: 'KPU241' });
    }
  });
});
