import { lookup, type LookupAddress, Resolver } from 'node:dns';
import { readdirSync, readFileSync } from 'node:fs';
import { Agent, request, type RequestOptions } from 'node:https';
import type { LookupFunction } from 'node:net';
import { join } from 'node:path';

import { type Duration, seconds } from '#schemas/time/clock.ts';

import type { KraftletSettings } from './settings.ts';

/** Quotas or use, in the platform's words. */
export interface PlatformCounts {
  readonly instances: number;
  readonly live_vcpus: number;
  readonly live_memory_mb: number;
  readonly total_volume_mb: number;
}

export interface PlatformQuotas {
  readonly hard: PlatformCounts;
  readonly used: PlatformCounts;
}

export interface PlatformGuest {
  readonly uuid: string;
  readonly name: string;
  readonly tags: readonly string[];
  readonly state: 'running' | 'standby' | 'stopped';
  /** `quota`: it was to go on and found no live memory. */
  readonly stop_reason?: string;
}

export interface GuestSpec {
  readonly name: string;
  readonly image: string;
  readonly vcpus: number;
  readonly memory_mb: number;
  readonly tags: readonly string[];
  readonly scale_to_zero?: { readonly policy: string; readonly cooldown_time_ms: number };
  /** The sandbox's own: when a request comes for it. */
  readonly sandbox_request_after_ms?: number;
}

/** The platform answered, with a no. */
export class PlatformRefusal extends Error {}
/** There is no room for a guest under the live quotas. */
export class QuotaExceeded extends PlatformRefusal {}

interface Envelope {
  readonly status: string;
  readonly message?: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

const timeout: Duration = seconds(5);

/**
 * The platform API as Kraftlet calls it: by the machine's name, as its Pod's hosts file has it or resolved where the
 * sandbox says, over TLS that only the given CAs are trusted for.
 */
export class PlatformClient {
  readonly #endpoint: URL;
  readonly #token: string;
  readonly #agent: Agent;

  constructor(settings: KraftletSettings) {
    const { endpoint, token, certificates, insecure, dnsServer, hosts } = settings;
    this.#endpoint = endpoint;
    this.#token = token;
    this.#agent = new Agent({
      keepAlive: true,
      rejectUnauthorized: !insecure,
      // Go ends a chain at whatever it is told to trust
      ...(certificates === undefined
        ? {}
        : { ca: certificatesIn(certificates), allowPartialTrustChain: true }),
      lookup: knowing(hosts, dnsServer === undefined ? lookup : lookupAt(dnsServer)),
    });
  }

  close(): void {
    this.#agent.destroy();
  }

  /** Whether every check says healthy. */
  async isHealthy(): Promise<boolean> {
    const { checks } = (await this.#call('GET', '/v1/healthz')) as {
      checks: Record<string, string>;
    };
    return Object.values(checks).every((status) => status === 'healthy');
  }

  async quotas(): Promise<PlatformQuotas> {
    const { quotas } = (await this.#call('GET', '/v1/users/quotas')) as {
      quotas: PlatformQuotas[];
    };
    const [own] = quotas;
    if (!own) throw new PlatformRefusal('the platform shows no quotas');
    return own;
  }

  async guests(): Promise<readonly PlatformGuest[]> {
    const { instances } = (await this.#call('GET', '/v1/instances')) as {
      instances: PlatformGuest[];
    };
    return instances;
  }

  /** Throws {@link QuotaExceeded}. */
  async start(guest: GuestSpec): Promise<void> {
    await this.#call('POST', '/v1/instances', guest);
  }

  async remove(uuid: string): Promise<void> {
    await this.#call('DELETE', `/v1/instances/${uuid}`);
  }

  /** An envelope's data; throws what the platform refuses, also inside of a 200. */
  async #call(method: string, path: string, body?: object): Promise<unknown> {
    const { status, message = '', data = {} } = await this.#send(method, path, body);
    if (status === 'success') return data;
    if (message === 'Quota exceeded') throw new QuotaExceeded(message);
    throw new PlatformRefusal(`${method} ${path}: ${message}`);
  }

  async #send(method: string, path: string, body: object | undefined): Promise<Envelope> {
    const { promise, resolve, reject } = Promise.withResolvers<Envelope>();
    const options: RequestOptions = {
      method,
      agent: this.#agent,
      timeout,
      headers: { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' },
    };
    const sent = request(new URL(path, this.#endpoint), options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('error', reject).on('end', () => {
        try {
          resolve(JSON.parse(text) as Envelope);
        } catch (error) {
          reject(error as Error);
        }
      });
    });
    sent.on('timeout', () => sent.destroy(new Error(`no answer within ${timeout} ms`)));
    sent.on('error', reject);
    sent.end(body && JSON.stringify(body));
    return promise;
  }
}

/** Every file of SSL_CERT_DIR, as Go's crypto/x509 takes them; what is no certificate is left out by TLS itself. */
function certificatesIn(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => !entry.isDirectory() && !entry.name.startsWith('..'))
    .map(({ name }) => readFileSync(join(directory, name), 'utf8'))
    .filter((text) => text.includes('BEGIN CERTIFICATE'));
}

function knowing(hosts: ReadonlyMap<string, string>, otherwise: LookupFunction): LookupFunction {
  return (hostname, options, done) => {
    const address = hosts.get(hostname);
    if (address === undefined) otherwise(hostname, options, done);
    else if (options.all) done(null, [ipv4(address)]);
    else done(null, address, 4);
  };
}

function lookupAt(server: string): LookupFunction {
  const resolver = new Resolver({ timeout: seconds(1), tries: 2 });
  resolver.setServers([server]);
  return (hostname, options, done) => {
    resolver.resolve4(hostname, (error, addresses) => {
      if (error) done(error, '', 4);
      else if (options.all) done(null, addresses.map(ipv4));
      else done(null, addresses[0] ?? '', 4);
    });
  };
}

const ipv4 = (address: string): LookupAddress => ({ address, family: 4 });
