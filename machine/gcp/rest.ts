import { GoogleAuth, JWT } from 'google-auth-library';

import { type Clock, type Duration, seconds } from '#schemas/time/clock.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

import { NodeClassError } from '../errors.ts';
import { faults } from '../faults.ts';
import { Pacing } from '../pacing.ts';
import { Reach } from '../reach.ts';
import { until } from '../until.ts';
import { failureOf, GoogleError } from './google-error.ts';

/** One method of a Google API: where it is, and what whoever calls it must be allowed. */
export interface ApiMethod {
  /** As audit logs and roles name it: `compute.instances.insert`. */
  readonly id: string;
  readonly http: 'GET' | 'POST' | 'DELETE';
  /** Below the root of the service; `{name}` stands for a parameter. */
  readonly path: string;
  /** All that a role must hold for the calls made here. */
  readonly permissions: readonly string[];
}

/**
 * How a service's table of methods is written.
 *
 * @param service  as permissions name it: `compute`
 */
export function methodsOf(service: string) {
  return (
    name: string,
    http: ApiMethod['http'],
    path: string,
    permissions: readonly string[],
  ): ApiMethod => ({ id: `${service}.${name}`, http, path, permissions });
}

export interface CallParts {
  /** What the path names. A value may hold slashes only where it is a path of its own. */
  readonly path: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
}

type Sending = [method: ApiMethod, parts: CallParts, authorization: string, signal: AbortSignal];

/** Gives a token that is valid now. */
export type Token = () => Promise<string>;

const scope = 'https://www.googleapis.com/auth/cloud-platform';

/** A call is given up after this long: its outcome is not known then. */
const longest = seconds(60);
/** Metadata servers and token services answer within a second or are away; the library repeats its own calls. */
const longestForToken = seconds(20);

/**
 * The standard credentials of a program: a service-account file or a workload-identity federation file named by
 * GOOGLE_APPLICATION_CREDENTIALS, else the metadata server of GKE (workload identity) or Compute Engine. Tokens are
 * kept until shortly before they end; those of a service account are signed here.
 */
export function applicationDefaultToken(): Token {
  // Node classes name their projects. Without one here the library would ask another API which is the credentials' own.
  const projectId = 'not-used';
  const auth = new GoogleAuth({ scopes: [scope], projectId });
  return async () => {
    const client = await auth.getClient();
    if (client instanceof JWT) client.useJWTAccessWithScope = true;
    const headers = await client.getRequestHeaders();
    return (headers.get('authorization') ?? '').replace(/^Bearer /, '');
  };
}

/**
 * A Google API over REST: JSON in, JSON out, every failure a {@link GoogleError}. Nothing is repeated here, since who
 * calls knows what a repetition would do.
 *
 * Calls take turns once Google refuses for their rate, each method of a project by itself, so that launches that are too
 * many hold up no deletes. Quotas are by project, method group and minute.
 *
 * Source: Compute Engine docs, "API rate limits".
 *
 * docs/adr/0021-gcp-over-rest.md says why there is no client library.
 */
export class GoogleRest {
  readonly #root: URL;
  readonly #token: Token;
  readonly #clock: Clock;
  readonly #reach: Reach;
  readonly #giver: Reach;
  readonly #patience: Duration;
  /** By method and project. */
  readonly #pacings = new Map<string, Pacing>();

  /** @param root  with its final slash; @param patience  with whoever gives the token; @throws NodeClassError for one without TLS that is not on this very computer */
  constructor(
    root: string,
    token: Token,
    clock: Clock = new SystemClock(),
    patience = longestForToken,
  ) {
    this.#root = new URL(root);
    this.#token = token;
    this.#clock = clock;
    const { protocol, hostname, host } = this.#root;
    this.#reach = new Reach(clock, host);
    this.#giver = new Reach(clock, `whoever gives the operator its credentials for ${host}`);
    this.#patience = patience;
    if (protocol === 'https:' || isLoopback(hostname)) return;
    throw new NodeClassError(
      faults.insecureEndpoint,
      `The endpoint ${protocol}//${hostname} has no TLS; use https, or a loopback address for tests.`,
    );
  }

  /**
   * @throws GoogleError; the signal's reason when that aborts
   * @throws Throttled without a call when its turn is far away, CloudUnreachable when nobody has answered for a while
   */
  async call<T>(method: ApiMethod, parts: CallParts, signal: AbortSignal): Promise<T> {
    const authorization = `Bearer ${await this.#authorized(signal)}`;
    const pacing = this.#pacingOf(method, parts);
    const turn = await until(pacing.turn(), signal);
    const response = await this.#reached(method, parts, authorization, signal);
    const text = await response.text().catch((error: unknown) => {
      signal.throwIfAborted();
      throw GoogleError.unanswered(error);
    });
    if (!response.ok) {
      const failure = failureOf(response.status, text);
      if (failure.isForTheRate) pacing.refused(turn);
      else pacing.passed(turn);
      throw failure;
    }
    pacing.passed(turn);
    return parsed<T>(text);
  }

  async #reached(...[method, parts, authorization, signal]: Sending): Promise<Response> {
    const sentAt = this.#reach.turn();
    try {
      const response = await this.#send(method, parts, authorization, signal);
      this.#reach.answered();
      return response;
    } catch (error) {
      if (error instanceof GoogleError) this.#reach.failed(sentAt, error);
      throw error;
    }
  }

  #pacingOf({ id }: ApiMethod, { path }: CallParts): Pacing {
    const key = `${id} ${path['project'] ?? ''}`;
    const known = this.#pacings.get(key) ?? new Pacing(this.#clock, { isPerMinute: true });
    this.#pacings.set(key, known);
    return known;
  }

  /** A token that cannot be had is the caller's own trouble, unless who gives it is away, or silent. */
  async #authorized(signal: AbortSignal): Promise<string> {
    signal.throwIfAborted();
    const askedAt = this.#giver.turn();
    const limit = AbortSignal.timeout(this.#patience);
    try {
      const token = await until(this.#token(), AbortSignal.any([signal, limit]));
      this.#giver.answered();
      return token;
    } catch (error) {
      signal.throwIfAborted();
      const late = error === limit.reason && GoogleError.tokenLate(this.#patience);
      const failure = late || GoogleError.withoutToken(error);
      if (failure.reason === 'TokenUnanswered') this.#giver.failed(askedAt, failure);
      else this.#giver.answered();
      throw failure;
    }
  }

  async #send(...[method, parts, authorization, signal]: Sending): Promise<Response> {
    const { http, path: template } = method;
    const { path, query = {}, body } = parts;
    const url = new URL(filled(template, path), this.#root);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const headers = { authorization, 'content-type': 'application/json' };
    const init = { method: http, headers, ...(body && { body: JSON.stringify(body) }) };
    const limit = AbortSignal.any([signal, AbortSignal.timeout(longest)]);
    try {
      return await fetch(url, { ...init, signal: limit });
    } catch (error) {
      signal.throwIfAborted();
      throw GoogleError.unanswered(error);
    }
  }
}

function parsed<T>(text: string): T {
  try {
    return JSON.parse(text === '' ? '{}' : text) as T;
  } catch (error) {
    throw GoogleError.unanswered(error); // a proxy's page, or half an answer
  }
}

function filled(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined || value === '') throw new Error(`${template} needs ${name}`);
    return encodeURIComponent(value);
  });
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}
