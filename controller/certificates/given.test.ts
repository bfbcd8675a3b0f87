import { beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { newChain, type Chain } from '#pki/testing/chains.ts';
import type { UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';
import { hours, minutes, seconds } from '#schemas/time/clock.ts';

import { NodeClassWorld } from '../testing/node-class-world.ts';

const zone = 'machines.example.com';
const spec: Partial<UnikraftNodeClassSpec> = {
  dns: { provider: 'Route53', zone, nameTemplate: '{{node}}.{{zone}}' },
  certificate: { api: { mode: 'SecretRef', secretRef: { name: 'machines-tls' } } },
};

let good: Chain;
let next: Chain;
let world: NodeClassWorld;
beforeAll(async () => {
  const { clock } = new NodeClassWorld();
  [good, next] = await Promise.all([
    newChain(clock, [`*.${zone}`]),
    newChain(clock, [`*.${zone}`]),
  ]);
});
beforeEach(() => {
  world = new NodeClassWorld();
});

function secretOf({ whole, root }: Pick<Chain, 'whole' | 'root'>): Record<string, string> {
  return { 'tls.crt': whole.certificate, 'tls.key': whole.privateKey, 'ca.crt': root };
}

describe("the user's certificate", () => {
  test('that covers every machine makes the class ready', async () => {
    world.seedSecret('machines-tls', secretOf(good));
    await world.apply(spec);
    expect(world.condition('CertificateReady')?.status).toBe('True');
    expect(world.condition('Ready')?.status).toBe('True');
    expect(world.current?.nodeClass.certificate).toMatch(/^[0-9a-f]{64}$/);
  });

  test('that is not there yet is noticed within seconds', async () => {
    await world.apply(spec);
    expect(world.condition('CertificateReady')).toMatchObject({
      status: 'False',
      reason: 'SecretNotFound',
    });
    world.seedSecret('machines-tls', secretOf(good));
    for (let times = 0; times < 10; times++) await world.forwardAndLook(seconds(1));
    expect(world.condition('Ready')?.status).toBe('True');
  });

  test.each([
    [
      'of other names',
      async () => secretOf(await newChain(world.clock, ['*.other.example.com'])),
      /cover/,
    ],
    [
      'of a few hours',
      async () => secretOf(await newChain(world.clock, [`*.${zone}`], 3_600_000)),
      /already/,
    ],
    [
      'with the key of another',
      async () => ({
        ...secretOf(good),
        'tls.key': next.whole.privateKey,
      }),
      /does not belong/,
    ],
    [
      'without what signed it',
      async () => ({
        ...secretOf(good),
        'tls.crt': good.leaf.certificate,
      }),
      /no authority of ca\.crt signed/,
    ],
    [
      'in the wrong order',
      async () => ({
        ...secretOf(good),
        'tls.crt': good.leaf.certificate + good.root + good.intermediate,
      }),
      /put the leaf first/,
    ],
    ['that nobody would believe', async () => ({ ...secretOf(good), 'ca.crt': '' }), /no public/],
    ['that is none', async () => ({ 'tls.crt': 'x', 'tls.key': 'y' }), /not PEM/],
  ])('%s is refused with the reason', async (_, data, reason) => {
    world.seedSecret('machines-tls', await data());
    await world.apply(spec);
    const { status, message } = world.condition('CertificateReady') ?? {};
    expect(status).toBe('False');
    expect(message).toMatch(reason);
    expect(message).toMatch(/\(KPU361\)$/);
    expect(message).not.toMatch(/PRIVATE/);
    expect(world.current).toBeUndefined();
  });

  test('cannot cover names that have the node in a later label', async () => {
    world.seedSecret('machines-tls', secretOf(good));
    await world.apply({ ...spec, dns: { provider: 'Route53', zone } });
    expect(world.condition('CertificateReady')?.message).toMatch(/cover api\.machine-/);
  });

  test('that is renewed makes a new revision, and back again the old one', async () => {
    world.seedSecret('machines-tls', secretOf(good));
    await world.apply(spec);
    const first = world.current;
    world.seedSecret('machines-tls', secretOf(next));
    await world.forwardAndLook(minutes(2));
    expect(world.current?.name).not.toBe(first?.name);
    expect(world.current?.nodeClass.certificate).not.toBe(first?.nodeClass.certificate);
    world.seedSecret('machines-tls', secretOf(good));
    await world.forwardAndLook(minutes(2));
    expect(world.current?.name).toBe(first?.name);
  });

  test.each([
    [
      'one that ends sooner than a machine is worth',
      async () => secretOf(await newChain(world.clock, [`*.${zone}`], hours(23))),
    ],
    [
      'one of other names',
      async () => secretOf(await newChain(world.clock, ['*.other.example.com'])),
    ],
    ['the key of another', async () => ({ ...secretOf(next), 'tls.key': good.whole.privateKey })],
  ])('that is replaced by %s makes no machines, and those that run stay', async (_, data) => {
    world.seedSecret('machines-tls', secretOf(good));
    await world.apply(spec);
    const first = world.current?.name;
    world.seedSecret('machines-tls', await data());
    await world.forwardAndLook(minutes(2));
    expect(world.condition('CertificateReady')).toMatchObject({
      status: 'False',
      reason: 'CertificateSecretInvalid',
      message: expect.stringMatching(/\(KPU361\)$/) as string,
    });
    expect(world.condition('Ready')).toMatchObject({ status: 'False' });
    expect(world.status.updateRevision).toBe(first); // or machines would follow
    expect(world.stored).toHaveLength(1);

    world.seedSecret('machines-tls', secretOf(next));
    await world.forwardAndLook(minutes(2));
    expect(world.condition('Ready')).toMatchObject({ status: 'True' });
    expect(world.status.updateRevision).not.toBe(first);
  });

  test('that comes to its end in its Secret makes no machines any more, and those that run stay', async () => {
    const ending = await newChain(world.clock, [`*.${zone}`], hours(26));
    world.seedSecret('machines-tls', secretOf(ending));
    await world.apply(spec);
    const first = world.current?.name;
    for (const passed of [hours(3), hours(30)]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await world.forwardAndLook(passed);
      expect(world.condition('CertificateReady')).toMatchObject({ status: 'False' });
      expect(world.status.updateRevision).toBe(first);
    }
  });

  test('that is gone stops launches and makes no revision of nothing', async () => {
    world.seedSecret('machines-tls', secretOf(good));
    await world.apply(spec);
    const first = world.current?.name;
    world.seedSecret('machines-tls', {});
    await world.forwardAndLook(minutes(2));
    expect(world.condition('Ready')).toMatchObject({ status: 'False' });
    expect(world.status.updateRevision).toBe(first);
    expect(world.stored).toHaveLength(1);
  });
});

test('mode None needs nothing, and says what it means', async () => {
  await world.apply({ certificate: { api: { mode: 'None' } } });
  expect(world.condition('CertificateReady')).toMatchObject({
    status: 'True',
    reason: 'MachinesNotChecked',
  });
  expect(world.condition('Ready')?.status).toBe('True');
});
