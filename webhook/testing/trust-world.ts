/** The part of an API server that trust needs, and replicas that work with it. */
import { X509Certificate } from 'node:crypto';

import { applyPatch, type Operation } from 'rfc6902';

import { UndiciKubeClient } from '#kube/client/undici-client.ts';
import { silentLogger } from '#kube/log.ts';
import {
  json,
  refusal,
  ScriptedServer,
  type Answer,
  type Asked,
} from '#kube/testing/scripted-server.ts';
import { certificatesIn, type PemPair } from '#pki/certificate.ts';
import type { Secret } from '#schemas/kubernetes/core.ts';
import { hours } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { CaBundle, type WebhookConfiguration } from '../certificate/ca-bundle.ts';
import { CaSecret } from '../certificate/ca-secret.ts';
import { Leaf } from '../certificate/leaf.ts';
import { RingKeeper } from '../certificate/ring-keeper.ts';
import { usualLifetimes } from '../certificate/ring.ts';
import { Trust } from '../certificate/trust.ts';

/** The part of an API server that keeps the Secret and the two configurations. */
export class Store {
  secret: Secret | undefined;
  readonly configurations = new Map<string, WebhookConfiguration>();
  writes = 0;
  #version = 0;
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
    const present = this.secret;
    if (method === 'GET') return present ? json(present) : refusal(404, 'NotFound');
    const wanted = body as Secret;
    if (method === 'POST' && present) return refusal(409, 'AlreadyExists');
    if (method === 'PUT' && !isSameVersion(wanted, present)) return refusal(409, 'Conflict');
    this.put(wanted);
    return json(this.secret, method === 'POST' ? 201 : 200);
  }

  put({ metadata, ...rest }: Secret): void {
    this.#version += 1;
    this.secret = { ...rest, metadata: { ...metadata, resourceVersion: String(this.#version) } };
  }

  #patch(found: WebhookConfiguration, { body }: Asked): Answer {
    const patched = structuredClone(found);
    const [failed] = applyPatch(patched, body as Operation[]).filter((problem) => problem !== null);
    if (failed) return refusal(422, 'Invalid', { message: failed.message });
    Object.assign(found, patched);
    return json(found);
  }
}

function isSameVersion(one: Secret, other: Secret | undefined): boolean {
  return one.metadata?.resourceVersion === other?.metadata?.resourceVersion;
}

export const mutating = 'mutatingwebhookconfigurations';
export const validating = 'validatingwebhookconfigurations';
export const hook = (name: string) => ({ name, clientConfig: {} as { caBundle?: string } });

/** What one replica works with. */
export interface Replica {
  readonly trust: Trust;
  readonly leaf: Leaf;
  readonly served: PemPair[];
  readonly warnings: string[];
}

const names = ['webhook.test.svc'];
export const days = (count: number): number => hours(24 * count);

export class World implements AsyncDisposable {
  readonly store = new Store();
  readonly clock = new FakeClock();
  readonly client: UndiciKubeClient;
  readonly secret: CaSecret;
  readonly #server: ScriptedServer;

  private constructor(server: ScriptedServer) {
    this.#server = server;
    server.otherwise(this.store.answer);
    const { clock } = this;
    this.client = new UndiciKubeClient(server.connection, { clock });
    const { client } = this;
    this.secret = new CaSecret({ client, namespace: 'system', clock, lifetimes: usualLifetimes });
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

  bundles(): (string | undefined)[] {
    const hooks = [...this.store.configurations.values()].flatMap(({ webhooks = [] }) => webhooks);
    return hooks.map(({ clientConfig: { caBundle } }) =>
      caBundle === undefined ? undefined : Buffer.from(caBundle, 'base64').toString(),
    );
  }

  /** What the API server trusts; nothing, when hooks differ. */
  trusted(): string[] {
    const [bundle = '', ...others] = new Set(this.bundles());
    return others.length === 0 ? certificatesIn(bundle) : [];
  }

  async replica(): Promise<Replica> {
    const { clock, secret, client } = this;
    const lifetimes = usualLifetimes;
    const stored = await secret.open();
    const leaf = await Leaf.first({ secret, names, validity: lifetimes.leaf, clock }, stored.ring);
    const seen = (): Secret | undefined => this.store.secret;
    const keeper = new RingKeeper({ secret, seen, clock, lifetimes }, stored);
    const [served, warnings]: [PemPair[], string[]] = [[leaf.pair], []];
    const log = { ...silentLogger, warn: (_: object, text: string) => void warnings.push(text) };
    const serve = (pair: PemPair): void => void served.push(pair);
    const bundle = new CaBundle(client);
    return {
      trust: new Trust({ keeper, bundle, leaf, serve, lifetimes, clock, log }),
      leaf,
      served,
      warnings,
    };
  }

  /** Whether what is served is believed by who trusts what stands in the configurations. */
  believes({ leaf }: Replica): boolean {
    const served = new X509Certificate(leaf.pair.certificate);
    return this.trusted().some((ca) => served.verify(new X509Certificate(ca).publicKey));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close();
    await this.#server[Symbol.asyncDispose]();
  }
}
