import { applyPatch, type Operation } from 'rfc6902';
import { describe, expect, test } from 'vitest';

import { UndiciKubeClient } from '#kube/client/undici-client.ts';
import { silentLogger } from '#kube/log.ts';
import {
  hangUp,
  json,
  refusal,
  ScriptedServer,
  type Answer,
  type Asked,
} from '#kube/testing/scripted-server.ts';
import type { Authority } from '#pki/authority.ts';
import type { Secret } from '#schemas/kubernetes/core.ts';
import { seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { CaBundle, type WebhookConfiguration } from './ca-bundle.ts';
import { AuthorityReplaced, CaSecret } from './ca-secret.ts';
import { Trust } from './trust.ts';

/** The part of an API server that keeps the Secret and the two configurations. */
class Store {
  secret: Secret | undefined;
  readonly configurations = new Map<string, WebhookConfiguration>();
  writes = 0;
  /** Before the answer to the next write; may change what is stored, or answer itself. */
  beforeWrite: (() => Answer | undefined) | undefined;
  /** Instead of everything. */
  fault: Answer | undefined;

  readonly answer: Answer = (response, asked) => {
    const write = asked.method === 'GET' ? undefined : this.#write();
    (this.fault ?? write ?? this.#answerTo(asked))(response, asked);
  };

  #write(): Answer | undefined {
    this.writes += 1;
    const before = this.beforeWrite;
    this.beforeWrite = undefined;
    return before?.();
  }

  #answerTo(asked: Asked): Answer {
    if (asked.path.includes('/secrets')) return this.#secret(asked);
    const [, plural = ''] = /v1\/(\w+)\/karpenter-unikraft$/.exec(asked.path) ?? [];
    const found = this.configurations.get(plural);
    if (!found) return refusal(404, 'NotFound');
    return asked.method === 'PATCH' ? this.#patch(found, asked) : json(found);
  }

  #secret({ method, body }: Asked): Answer {
    if (method === 'GET') return this.secret ? json(this.secret) : refusal(404, 'NotFound');
    if (this.secret) return refusal(409, 'AlreadyExists');
    this.secret = body as Secret;
    return json(body, 201);
  }

  #patch(found: WebhookConfiguration, { body }: Asked): Answer {
    const patched = structuredClone(found);
    const [failed] = applyPatch(patched, body as Operation[]).filter((problem) => problem !== null);
    if (failed) return refusal(422, 'Invalid', { message: failed.message });
    Object.assign(found, patched);
    return json(found);
  }
}

const mutating = 'mutatingwebhookconfigurations';
const validating = 'validatingwebhookconfigurations';
const hook = (name: string) => ({ name, clientConfig: {} as { caBundle?: string } });

class World implements AsyncDisposable {
  readonly store = new Store();
  readonly clock = new FakeClock();
  readonly client: UndiciKubeClient;
  readonly #server: ScriptedServer;

  private constructor(server: ScriptedServer) {
    this.#server = server;
    server.otherwise(this.store.answer);
    this.client = new UndiciKubeClient(server.connection, { clock: this.clock });
  }

  static async open(): Promise<World> {
    const world = new World(await ScriptedServer.start());
    world.store.configurations.set(mutating, { webhooks: [hook('pods')] });
    world.store.configurations.set(validating, { webhooks: [hook('rules'), hook('more')] });
    return world;
  }

  get asked(): Asked[] {
    return this.#server.asked;
  }

  get secret(): CaSecret {
    return new CaSecret({ client: this.client, namespace: 'system', clock: this.clock });
  }

  bundles(): (string | undefined)[] {
    const hooks = [...this.store.configurations.values()].flatMap(({ webhooks = [] }) => webhooks);
    return hooks.map(({ clientConfig: { caBundle } }) =>
      caBundle === undefined ? undefined : Buffer.from(caBundle, 'base64').toString(),
    );
  }

  trust(authority: Authority, warnings: string[] = []): Trust {
    const log = { ...silentLogger, warn: (_: object, text: string) => void warnings.push(text) };
    const bundle = new CaBundle(this.client, authority.pem.certificate);
    return new Trust({ authority, secret: this.secret, bundle, clock: this.clock, log });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close();
    await this.#server[Symbol.asyncDispose]();
  }
}

describe('the authority', () => {
  test('is made by the first replica and read by the others', async () => {
    await using world = await World.open();
    const first = await world.secret.authority();
    const second = await world.secret.authority();
    expect(second.pem).toEqual(first.pem);
    expect(world.store.secret).toMatchObject({
      type: 'kubernetes.io/tls',
      metadata: { namespace: 'system', name: 'karpenter-unikraft-webhook-ca' },
    });
  });

  test('of the faster replica is taken when two make one', async () => {
    await using world = await World.open();
    await using elsewhere = await World.open();
    const faster = await elsewhere.secret.authority();
    world.store.beforeWrite = () => {
      world.store.secret = elsewhere.store.secret;
      return undefined;
    };
    expect((await world.secret.authority()).pem).toEqual(faster.pem);
  });

  test.each([
    ['nothing', {}],
    ['something else', { 'tls.crt': 'eA==', 'tls.key': 'eA==' }],
  ])(
    'is not taken from a Secret that holds %s: which one, and the way out, are said',
    async (_, data) => {
      await using world = await World.open();
      world.store.secret = { data };
      await expect(world.secret.authority()).rejects.toThrow(
        /^Secret system\/karpenter-unikraft-webhook-ca holds no authority: .*PEM.* Delete the Secret/,
      );
    },
  );
});

describe('the bundle', () => {
  test('is written into every hook by its name, as our own manager, and no more once it is there', async () => {
    await using world = await World.open();
    const authority = await world.secret.authority();
    const trust = world.trust(authority);
    expect(trust.trouble).toBe('the CA is not published yet');

    expect(await trust.look()).toBe(true);
    expect(await trust.look()).toBe(true);

    expect(trust.trouble).toBeUndefined();
    expect(world.bundles()).toEqual(Array(3).fill(authority.pem.certificate));
    const patches = world.asked.filter(({ method }) => method === 'PATCH');
    expect(patches).toHaveLength(2);
    for (const { headers, query } of patches) {
      expect(headers['content-type']).toBe('application/json-patch+json');
      expect(query.get('fieldManager')).toBe('karpenter-unikraft-ca-bundle');
    }
  });

  test('is written again when a Git tool has taken it out of one hook', async () => {
    await using world = await World.open();
    const authority = await world.secret.authority();
    const trust = world.trust(authority);
    await trust.look();
    world.store.configurations.set(validating, { webhooks: [hook('rules'), hook('new')] });

    const stop = new AbortController();
    const running = trust.run(stop.signal);
    await expect.poll(() => world.bundles()).toEqual(Array(3).fill(authority.pem.certificate));
    stop.abort();
    await running;
  });

  test('does not go into the wrong hook when they change between read and write; the next look finds the right one', async () => {
    await using world = await World.open();
    const trust = world.trust(await world.secret.authority());
    world.store.configurations.delete(mutating);
    world.store.beforeWrite = () => {
      world.store.configurations.set(validating, { webhooks: [hook('renamed')] });
      return undefined;
    };
    expect(await trust.look()).toBe(false);
    expect(world.bundles()).toEqual([undefined]);
    expect(trust.trouble).toContain('422 Invalid');

    await trust.look();
    expect(trust.trouble).toBeUndefined();
    expect(world.bundles()).toHaveLength(1);
  });

  test('that does not stay is told', async () => {
    await using world = await World.open();
    const trust = world.trust(await world.secret.authority());
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
    const authority = await world.secret.authority();
    world.store.configurations.clear();
    const trust = world.trust(authority);
    const stop = new AbortController();
    const running = trust.run(stop.signal);
    await expect.poll(() => trust.trouble).toBeUndefined();

    world.store.configurations.set(mutating, { webhooks: [hook('pods')] });
    await expect.poll(() => world.clock.waiting).toBe(1);
    await world.clock.forward(seconds(2));

    await expect.poll(() => world.bundles()).toEqual([authority.pem.certificate]);
    stop.abort();
    await running;
  });
});

describe('the Secret', () => {
  test('that was deleted is written again, so that replicas to come work with the same authority', async () => {
    await using world = await World.open();
    const authority = await world.secret.authority();
    world.store.secret = undefined;
    expect(await world.trust(authority).look()).toBe(true);
    expect((await world.secret.authority()).pem).toEqual(authority.pem);
  });

  test('that was replaced ends the replica, and its bundle is not put over the new one', async () => {
    await using world = await World.open();
    await using elsewhere = await World.open();
    const authority = await world.secret.authority();
    await elsewhere.secret.authority();
    world.store.secret = elsewhere.store.secret;
    const trust = world.trust(authority);
    await expect(trust.run(new AbortController().signal)).rejects.toThrow(AuthorityReplaced);
    expect(world.bundles()).toEqual(Array(3).fill(undefined));
  });
});

describe('an API server', () => {
  test('that does not answer is no reason to think that it has stopped trusting', async () => {
    await using world = await World.open();
    const warnings: string[] = [];
    const trust = world.trust(await world.secret.authority(), warnings);
    await trust.look();
    world.store.fault = hangUp;
    const looking = trust.look();
    await expect
      .poll(async () => world.clock.forward(seconds(5)).then(() => warnings))
      .toHaveLength(1);
    expect(await looking).toBe(false);
    expect(trust.trouble).toBeUndefined();
  });

  test('that refuses is a reason, and is told once', async () => {
    await using world = await World.open();
    const warnings: string[] = [];
    const trust = world.trust(await world.secret.authority(), warnings);
    await trust.look();
    world.store.fault = refusal(403, 'Forbidden', { message: 'no such right' });
    await trust.look();
    await trust.look();
    expect(trust.trouble).toContain('no such right');
    expect(warnings).toEqual(['cannot publish the CA']);
  });
});
