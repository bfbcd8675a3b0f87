import { describe, expect, test } from 'vitest';

import { hangUp, json, refusal } from '#kube/testing/scripted-server.ts';
import { Authority } from '#pki/authority.ts';
import { certificatesIn } from '#pki/certificate.ts';
import type { Secret } from '#schemas/kubernetes/core.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';

import { days, hook, mutating, validating, World } from '../testing/trust-world.ts';

describe('the authority', () => {
  test('is made by the first replica and read by the others', async () => {
    await using world = await World.open();
    const first = await world.secret.open();
    const second = await world.secret.open();
    expect(second).toEqual(first);
    expect(world.store.secret).toMatchObject({
      type: 'kubernetes.io/tls',
      metadata: { namespace: 'system', name: 'karpenter-unikraft-webhook-ca' },
    });
  });

  test('of the faster replica is taken when two make one', async () => {
    await using world = await World.open();
    await using elsewhere = await World.open();
    const faster = await elsewhere.secret.open();
    world.store.beforeWrite = () => {
      world.store.secret = elsewhere.store.secret;
      return undefined;
    };
    expect(await world.secret.open()).toEqual(faster);
  });

  test.each([
    ['nothing', {}],
    ['something else', { 'tls.crt': 'eA==', 'tls.key': 'eA==' }],
  ])(
    'is not taken from a Secret that holds %s: which one, and the way out, are said',
    async (_, data) => {
      await using world = await World.open();
      world.store.secret = { data };
      await expect(world.secret.open()).rejects.toThrow(
        /^Secret system\/karpenter-unikraft-webhook-ca holds no authority: .*PEM.* Delete the Secret/,
      );
    },
  );
});

describe('the bundle', () => {
  test('A12: is written into every hook by its name, as our own manager, and no more once it is there', async () => {
    await using world = await World.open();
    const { trust, leaf } = await world.replica();
    expect(trust.trouble).toBe('the CA is not published yet');

    await trust.look();
    await trust.look();

    expect(trust.trouble).toBeUndefined();
    expect(trust.hooks).toBe(3);
    expect(world.trusted()).toEqual(certificatesIn(leaf.issuer));
    expect(trust.live).toEqual(world.bundles().slice(0, 1));
    const patches = world.asked.filter(({ method }) => method === 'PATCH');
    expect(patches).toHaveLength(2);
    for (const { headers, query } of patches) {
      expect(headers['content-type']).toBe('application/json-patch+json');
      expect(query.get('fieldManager')).toBe('karpenter-unikraft-ca-bundle');
    }
  });

  test('is written again when a Git tool has taken it out of one hook', async () => {
    await using world = await World.open();
    const { trust } = await world.replica();
    await trust.look();
    const before = world.trusted();
    world.store.configurations.set(validating, { webhooks: [hook('rules'), hook('new')] });

    const stop = new AbortController();
    const running = trust.run(stop.signal);
    await expect.poll(() => world.bundles()).toEqual(Array(3).fill(before.join('')));
    stop.abort();
    await running;
  });

  test('does not go into the wrong hook when they change between read and write; the next look finds the right one', async () => {
    await using world = await World.open();
    const { trust } = await world.replica();
    world.store.configurations.delete(mutating);
    world.store.beforeWrite = () => {
      world.store.configurations.set(validating, { webhooks: [hook('renamed')] });
      return undefined;
    };
    expect(await trust.look()).toBe(seconds(2));
    expect(world.bundles()).toEqual([undefined]);
    expect(trust.trouble).toContain('422 Invalid');

    await trust.look();
    expect(trust.trouble).toBeUndefined();
    expect(world.bundles()).toHaveLength(1);
  });

  test('that does not stay is told', async () => {
    await using world = await World.open();
    const { trust } = await world.replica();
    world.store.beforeWrite = () => json({ webhooks: [hook('pods')] });
    await trust.look();
    expect(trust.trouble).toMatch(
      /WebhookConfiguration karpenter-unikraft: hook pods did not keep the CA bundle/,
    );
  });
});

describe('a configuration that is not there', () => {
  test('is no trouble: it may come later, and is found soon', async () => {
    await using world = await World.open();
    const { trust, leaf } = await world.replica();
    world.store.configurations.clear();
    const stop = new AbortController();
    const running = trust.run(stop.signal);
    await expect.poll(() => trust.trouble).toBeUndefined();

    world.store.configurations.set(mutating, { webhooks: [hook('pods')] });
    await expect.poll(() => world.clock.waiting).toBe(1);
    await world.clock.forward(seconds(2));

    await expect.poll(() => world.bundles()).toEqual(certificatesIn(leaf.issuer));
    stop.abort();
    await running;
  });
});

describe('the leaf', () => {
  test('lives a week, and the next one comes after two thirds of it', async () => {
    await using world = await World.open();
    const replica = await world.replica();
    const { trust, served } = replica;
    await trust.look();
    await world.clock.forward(days(4));
    await trust.look();
    expect(served).toHaveLength(1);

    await world.clock.forward(days(1));
    await trust.look();
    expect(served).toHaveLength(2);
    expect(new Set(served.map(({ privateKey }) => privateKey)).size).toBe(2);
    expect(world.believes(replica)).toBe(true);
  });

  test('is renewed also while the configurations cannot be read', async () => {
    await using world = await World.open();
    const { trust, served } = await world.replica();
    await trust.look();
    await world.clock.forward(days(5));
    world.store.fault = refusal(403, 'Forbidden', { message: 'no such right' });
    await trust.look();
    expect(served).toHaveLength(2);
  });
});

describe('the authority is followed by the next one', () => {
  test('which is published first, signs two minutes later, and what it follows is trusted until its leaves are over', async () => {
    await using world = await World.open();
    const [one, two] = [await world.replica(), await world.replica()];
    const lookBoth = async (): Promise<void> => {
      for (const { trust } of [one, two]) await trust.look(); // oxlint-disable-line no-await-in-loop
      for (const replica of [one, two]) expect(world.believes(replica)).toBe(true);
    };
    await lookBoth();
    const [old] = world.trusted();

    await world.clock.forward(days(244));
    await lookBoth(); // both renew their leaf, one makes the next authority
    await lookBoth(); // which is published
    expect(world.trusted()).toHaveLength(2);
    expect(one.leaf.issuer).toBe(two.leaf.issuer);
    expect(certificatesIn(one.leaf.issuer)).toEqual([old]);

    await world.clock.forward(minutes(2) - 1);
    await lookBoth();
    expect(certificatesIn(one.leaf.issuer)).toEqual([old]);
    await world.clock.forward(seconds(1));
    await lookBoth();
    await lookBoth();
    expect(certificatesIn(one.leaf.issuer)).not.toEqual([old]);
    expect(one.leaf.issuer).toBe(two.leaf.issuer);
    expect(world.trusted()).toContain(old);

    await world.clock.forward(days(14));
    await lookBoth();
    expect(world.trusted()).toContain(old);
    await world.clock.forward(minutes(3));
    await lookBoth();
    await lookBoth();
    expect(world.trusted()).toEqual(certificatesIn(one.leaf.issuer));
    expect([...one.warnings, ...two.warnings]).toEqual([]);
  });

  test('by whoever is there: a replica that starts on the way goes on where the others ended', async () => {
    await using world = await World.open();
    await (await world.replica()).trust.look();
    const [old] = world.trusted();
    await world.clock.forward(days(244));
    const first = await world.replica();
    await first.trust.look();
    await first.trust.look();
    expect(world.trusted()).toHaveLength(2);

    const later = await world.replica();
    await later.trust.look();
    expect(certificatesIn(later.leaf.issuer)).toEqual([old]); // nobody may trust the next one yet
    await world.clock.forward(minutes(2));
    await later.trust.look();
    await later.trust.look();
    expect(certificatesIn(later.leaf.issuer)).not.toEqual([old]);
    expect(world.believes(later)).toBe(true);
    expect(world.believes(first)).toBe(true);
  });

  test('and is not published by halves: without the configurations’ word nothing is signed with it', async () => {
    await using world = await World.open();
    const { trust, leaf } = await world.replica();
    await trust.look();
    await world.clock.forward(days(244));
    await trust.look();
    const before = leaf.issuer;
    world.store.configurations.get(validating)?.webhooks?.push(hook('late'));
    for (let looks = 0; looks < 3; looks++) {
      world.store.beforeWrite = () => refusal(403, 'Forbidden');
      await trust.look(); // oxlint-disable-line no-await-in-loop
      await world.clock.forward(minutes(10)); // oxlint-disable-line no-await-in-loop
    }
    expect(leaf.issuer).toBe(before);
    expect(trust.trouble).toContain('Forbidden');
  });
});

describe('the Secret', () => {
  test('that was deleted is written again, so that replicas to come work with the same authority', async () => {
    await using world = await World.open();
    const { trust, leaf, served } = await world.replica();
    await trust.look();
    const before = world.store.secret?.data;
    world.store.secret = undefined;
    await trust.look();
    expect((world.store.secret as Secret | undefined)?.data).toEqual(before);
    expect((await world.secret.open()).ring.signing.certificate).toBe(leaf.issuer);
    expect(served).toHaveLength(1);
  });

  test('that was replaced: both are trusted, what is served stays for two minutes, then follows', async () => {
    await using world = await World.open();
    await using elsewhere = await World.open();
    await elsewhere.secret.open();
    const replica = await world.replica();
    const { trust, leaf, served } = replica;
    await trust.look();
    const before = leaf.issuer;
    world.store.put(elsewhere.store.secret ?? {});

    await trust.look();
    expect(world.trusted()).toHaveLength(2);
    expect(leaf.issuer).toBe(before);
    await world.clock.forward(minutes(2));
    await trust.look();
    expect(leaf.issuer).not.toBe(before);
    expect(served).toHaveLength(2);
    expect(world.believes(replica)).toBe(true);
  });

  test.each([
    ['garbage', { 'tls.crt': 'eA==' }],
    ['a certificate without its key', undefined],
  ])('that now holds %s is told, and what was served goes on', async (_, data) => {
    await using world = await World.open();
    const replica = await world.replica();
    const { trust, served, warnings } = replica;
    await trust.look();
    const other = await Authority.create(world.clock, { commonName: 'x', validity: days(1) });
    const halves = {
      ...world.store.secret?.data,
      'tls.crt': Buffer.from(other.pem.certificate).toString('base64'),
    };
    world.store.put({ ...world.store.secret, data: data ?? halves });
    await trust.look();
    await trust.look();
    expect(warnings).toEqual(['cannot keep up the CA']);
    expect(served).toHaveLength(1);
    expect(trust.trouble).toBeUndefined();
    expect(world.believes(replica)).toBe(true);
  });
});

describe('an API server', () => {
  test('that does not answer is no reason to think that it has stopped trusting', async () => {
    await using world = await World.open();
    const { trust, warnings } = await world.replica();
    await trust.look();
    world.store.fault = hangUp;
    const looking = trust.look();
    await expect
      .poll(async () => world.clock.forward(seconds(5)).then(() => warnings))
      .toHaveLength(1);
    expect(await looking).toBe(seconds(2));
    expect(trust.trouble).toBeUndefined();
  });

  test('that refuses is a reason, and is told once', async () => {
    await using world = await World.open();
    const { trust, warnings } = await world.replica();
    await trust.look();
    world.store.fault = refusal(403, 'Forbidden', { message: 'no such right' });
    await trust.look();
    await trust.look();
    expect(trust.trouble).toContain('no such right');
    expect(warnings).toEqual(['cannot keep up the CA']);
  });
});
