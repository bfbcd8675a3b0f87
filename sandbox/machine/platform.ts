/**
 * The platform API of one machine, as far as an operator and Kraftlet use it. No I/O here: a request goes in, an
 * answer comes out.
 *
 * Source: Unikraft Cloud platform API (healthz, users/quotas, instances) as its public SDK has it: bearer token on
 * every path, one envelope for all answers, errors also inside of a 200.
 */
import { timingSafeEqual } from 'node:crypto';

import type { Instant } from '#schemas/time/clock.ts';

import { type Guest, Guests, type GuestWish } from './guests.ts';
import type { CheckStatus } from './health.ts';
import type { PlatformUser } from './user-data.ts';

export interface ApiRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: string;
}

export interface ApiAnswer {
  readonly status: number;
  readonly body: {
    readonly status: 'success' | 'error';
    readonly message?: string;
    readonly data?: Record<string, unknown>;
    readonly errors?: readonly { status: number }[];
  };
}

/** Numbers of errors on single items. */
export const itemErrors = { invalid: 4, notFound: 8, quotaExceeded: 28 } as const;

export class Platform {
  readonly #users: readonly { user: PlatformUser; guests: Guests }[];
  readonly #checks: () => Record<string, CheckStatus>;

  constructor(
    users: readonly PlatformUser[],
    checks: () => Record<string, CheckStatus>,
    now: () => Instant,
  ) {
    this.#users = users.map((user) => ({ user, guests: new Guests(user.quotas, now) }));
    this.#checks = checks;
  }

  answer(request: ApiRequest): ApiAnswer {
    const known = this.#users.find(({ user }) => isBearer(request.authorization, user.token));
    if (!known) return failure(401, 'Unauthorized');
    const { method, path } = request;
    if (method === 'GET' && path === '/v1/healthz') return success({ checks: this.#checks() });
    if (method === 'GET' && path === '/v1/users/quotas')
      return success({ quotas: [quotasOf(known)] });
    return onInstances(request, known.guests) ?? failure(404, 'No API endpoint');
  }
}

function isBearer(authorization: string | undefined, token: string): boolean {
  const [given, wanted] = [Buffer.from(authorization ?? ''), Buffer.from(`Bearer ${token}`)];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

const success = (data: Record<string, unknown>): ApiAnswer => ({
  status: 200,
  body: { status: 'success', data },
});

const failure = (status: number, message: string): ApiAnswer => ({
  status,
  body: { status: 'error', message, errors: [{ status }] },
});

function quotasOf({ user, guests }: { user: PlatformUser; guests: Guests }): object {
  const { used } = guests;
  const hard = user.quotas;
  return {
    status: 'success',
    name: user.name,
    used: usage(used.instances, used.vcpus, used.memoryMiB, 0),
    hard: usage(hard.instances, hard.vcpus, hard.memoryMiB, hard.volumeStorageMiB),
    limits: {
      min_memory_mb: 16,
      max_memory_mb: hard.memoryMiB,
      min_vcpus: 1,
      max_vcpus: hard.vcpus,
      min_volume_mb: 1,
      max_volume_mb: hard.volumeStorageMiB,
    },
  };
}

/** `live_instances` is an old name of `live_vcpus`: who takes it for a count of Pods is wrong. */
const usage = (instances: number, vcpus: number, memoryMiB: number, volumeMiB: number): object => ({
  instances,
  live_instances: vcpus,
  live_vcpus: vcpus,
  live_memory_mb: memoryMiB,
  service_groups: 0,
  services: 0,
  volumes: 0,
  total_volume_mb: volumeMiB,
});

function onInstances({ method, path, body }: ApiRequest, guests: Guests): ApiAnswer | undefined {
  const match = /^\/v1\/instances(?:\/([^/]+))?$/.exec(path);
  if (!match) return undefined;
  const uuid = match[1];
  if (uuid === undefined) {
    if (method === 'GET') return success({ instances: guests.all.map(guestTree) });
    return method === 'POST' ? create(body, guests) : undefined;
  }
  if (method !== 'GET' && method !== 'DELETE') return undefined;
  const guest = guests.get(uuid);
  if (method === 'DELETE') guests.remove(uuid);
  return guest
    ? success({ instances: [guestTree(guest)] })
    : refused(itemErrors.notFound, `No instance ${uuid}`);
}

function create(body: string, guests: Guests): ApiAnswer {
  const wanted = readGuest(body);
  if (!wanted) return refused(itemErrors.invalid, 'Invalid instance');
  const present = guests.named(wanted.name);
  if (present) return refused(itemErrors.invalid, `Instance ${wanted.name} exists`);
  const guest = guests.start(wanted);
  return guest
    ? success({ instances: [guestTree(guest)] })
    : refused(itemErrors.quotaExceeded, 'Quota exceeded');
}

/** An error of one item in an answer that is a 200. */
function refused(error: number, message: string): ApiAnswer {
  const instances = [{ status: 'error', error, message }];
  return { status: 200, body: { status: 'error', message, data: { instances } } };
}

/** @returns undefined for what is not an instance */
function readGuest(body: string): GuestWish | undefined {
  const given = jsonObject(body);
  const { name, image, vcpus = 1, memory_mb: memoryMiB = 128, tags = [] } = given;
  if (typeof name !== 'string' || typeof image !== 'string') return undefined;
  if (!isSize(vcpus, 1) || !isSize(memoryMiB, 16) || !Array.isArray(tags)) return undefined;
  const { scale_to_zero: scaling, sandbox_request_after_ms: requestAfter } = given;
  return {
    name,
    image,
    vcpus,
    memoryMiB,
    tags: tags.map(String),
    idleAfter: idleAfterIn(scaling),
    ...(isSize(requestAfter, 0) && { requestAfter }),
  };
}

/** A second is the platform's default. */
function idleAfterIn(scaling: unknown): number | undefined {
  const { policy = 'off', cooldown_time_ms: cooldown = 1000 } = Object(scaling) as Record<
    string,
    unknown
  >;
  return policy !== 'off' && isSize(cooldown, 0) ? cooldown : undefined;
}

function jsonObject(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>;
  } catch {
    return {};
  }
}

const isSize = (value: unknown, least: number): value is number =>
  Number.isInteger(value) && (value as number) >= least;

const guestTree = ({ memoryMiB, stopReason, ...guest }: Guest): object => ({
  status: 'success',
  ...guest,
  memory_mb: memoryMiB,
  ...(stopReason !== undefined && { stop_reason: stopReason }),
});
