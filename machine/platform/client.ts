import type { PlatformQuotas } from '#schemas/instances/instance-type.ts';
import { type Clock, milliseconds } from '#schemas/time/clock.ts';

import {
  MachineError,
  PlatformQuotasMissing,
  PlatformUnauthorized,
  PlatformUnavailable,
} from '../errors.ts';
import type { PlatformEndpoint } from '../machine.ts';
import type { HealthCheck, PlatformApi } from './api.ts';
import { dataOf, type Fields, fieldsOf, firstOf } from './envelope.ts';
import { type Answer, get } from './transport.ts';

/** Once more, since a proxy that reloads its certificates drops connections; the next look comes in seconds anyway. */
const retryAfter = milliseconds(250);
/** 8 EiB in MiB, where Kubernetes' binary quantities end. */
const beyondAll = 2 ** 43;
const passing = new Set([502, 503, 504]);

/** The platform API over TLS, as far as a machine's life needs it. */
export class PlatformClient implements PlatformApi {
  readonly #clock: Clock;
  readonly #get: typeof get;

  /** @param transport  how one request is sent; by default over TLS to the endpoint's address */
  constructor(clock: Clock, transport: typeof get = get) {
    this.#clock = clock;
    this.#get = transport;
  }

  /** An answer without a check says nothing about the machine, so it is none: agents may not have reported yet. */
  async health(endpoint: PlatformEndpoint, signal: AbortSignal): Promise<readonly HealthCheck[]> {
    const path = '/v1/healthz';
    const data = await this.#read(endpoint, path, signal);
    const checks = Object.entries(fieldsOf(data['checks']) ?? {});
    if (checks.length > 0)
      return checks.map(([name, status]) => ({ name, status: statusOf(status) }));
    throw new PlatformUnavailable(
      `GET ${path} of ${endpoint.fqdn}: the platform answers, but reports no checks`,
    );
  }

  /**
   * Never from `live_instances`, which by its name would be a number of instances and is an older name of
   * `live_vcpus`. Memory and storage are called megabytes there and are MiB.
   */
  async quotas(endpoint: PlatformEndpoint, signal: AbortSignal): Promise<PlatformQuotas> {
    const path = '/v1/users/quotas';
    const data = await this.#read(endpoint, path, signal);
    const hard = fieldsOf(firstOf(data, 'quotas', `GET ${path} of ${endpoint.fqdn}`)['hard']) ?? {};
    return {
      vcpus: quota(hard, 'live_vcpus', endpoint),
      memoryMiB: quota(hard, 'live_memory_mb', endpoint),
      volumeStorageMiB: amount(hard, 'total_volume_mb', endpoint) ?? 0,
      instances: quota(hard, 'instances', endpoint),
    };
  }

  async #read(endpoint: PlatformEndpoint, path: string, signal: AbortSignal): Promise<Fields> {
    const what = `GET ${path} of ${endpoint.fqdn}`;
    const answer = await this.#send(endpoint, path, signal, what);
    if (answer.status === 401 || answer.status === 403) {
      throw new PlatformUnauthorized(
        `${what}: ${answer.status}; the machine does not know the token of its user data. Check that the image reads it.`,
      );
    }
    if (answer.status !== 200) throw new PlatformUnavailable(`${what}: HTTP ${answer.status}`);
    return dataOf(answer.body, what);
  }

  async #send(
    endpoint: PlatformEndpoint,
    path: string,
    signal: AbortSignal,
    what: string,
  ): Promise<Answer> {
    try {
      const answer = await this.#get(endpoint, path, signal);
      if (!passing.has(answer.status)) return answer;
      await this.#clock.sleep(retryAfter, signal);
      return await this.#get(endpoint, path, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof MachineError) throw error;
      const { code, message } = error as { code?: string; message: string };
      throw new PlatformUnavailable(`${what} at ${endpoint.address}: ${code ?? message}`, {
        cause: error,
      });
    }
  }
}

/** What the platform calls anything else is no sign of health. */
function statusOf(status: unknown): HealthCheck['status'] {
  return status === 'healthy' || status === 'degraded' ? status : 'unknown';
}

/** A limit that is absent or zero: the user is root, whom no quota binds, and Kraftlet would copy the emptiness. */
function quota(hard: Fields, name: string, endpoint: PlatformEndpoint): number {
  const value = amount(hard, name, endpoint) ?? 0;
  if (value > 0) return value;
  throw new PlatformQuotasMissing(
    `The Kraftlet user of ${endpoint.fqdn} has no quota ${name}, so its Node would be empty. Is it a root user? The image must make it from the user data.`,
  );
}

/** Undefined where there is none. What is no amount is not reckoned with: limits are kept by these numbers. */
function amount(hard: Fields, name: string, { fqdn }: PlatformEndpoint): number | undefined {
  const value = hard[name] ?? undefined;
  if (value === undefined || isAmount(value)) return value;
  throw new PlatformUnavailable(
    `The Kraftlet user of ${fqdn} has quota ${name} ${JSON.stringify(value)}, which is no amount`,
  );
}

function isAmount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) < beyondAll;
}
