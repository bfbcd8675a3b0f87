import { getServers, Resolver } from 'node:dns/promises';

import { seconds, type Duration } from '#schemas/time/clock.ts';

import { DnsUnavailable } from '../errors.ts';
import { absenceAt } from './absence.ts';
import type { NameLookup } from './provider.ts';

/** What a resolver says about a name that does not exist, or has no address (yet). */
const absent = new Set(['ENOTFOUND', 'ENODATA']);

/** Looks names up at given servers, by default the system's, without any cache of its own. */
export class DnsLookup implements NameLookup {
  readonly #servers: readonly string[];

  /** @param servers  `10.0.0.2` or `10.0.0.2:5353`; none = the system's */
  constructor(servers: readonly string[] = []) {
    this.#servers = servers;
  }

  /** @throws DnsUnavailable when no server answers, or they answer with a failure */
  async lookup(name: string, signal: AbortSignal): Promise<readonly string[]> {
    return this.#ask(name, async (resolver) => resolver.resolve4(name), signal);
  }

  /**
   * Texts of a name, as challenges of ACME are; none when it does not exist (yet).
   *
   * @throws DnsUnavailable when no server answers, or they answer with a failure
   */
  async texts(name: string, signal: AbortSignal): Promise<readonly string[]> {
    const asked = async (resolver: Resolver): Promise<string[]> =>
      (await resolver.resolveTxt(name)).map((parts) => parts.join(''));
    return this.#ask(name, asked, signal);
  }

  /** The longest that any server says; a name that one of them finds may be remembered as absent by another. */
  async absence(name: string, signal: AbortSignal): Promise<Duration | undefined> {
    const servers = this.#servers.length > 0 ? this.#servers : getServers();
    const told = await Promise.all(servers.map(async (one) => absenceAt(one, name, signal)));
    const known = told.filter((one) => one !== undefined);
    return known.length > 0 ? Math.max(...known) : undefined;
  }

  async #ask(
    name: string,
    question: (resolver: Resolver) => Promise<string[]>,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    signal.throwIfAborted();
    // a resolver of its own for each call, since cancelling ends all that one resolver has under way
    const resolver = new Resolver({ timeout: seconds(2), tries: 2 });
    if (this.#servers.length > 0) resolver.setServers(this.#servers);
    const cancel = (): void => resolver.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      return await answersTo(question, resolver);
    } catch (error) {
      signal.throwIfAborted();
      const code = (error as { code?: string }).code ?? 'failure';
      const at = this.#servers.join(', ') || "the system's servers";
      throw new DnsUnavailable(`Looking ${name} up at ${at}: ${code}`, { cause: error });
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }
}

async function answersTo(
  question: (resolver: Resolver) => Promise<string[]>,
  resolver: Resolver,
): Promise<string[]> {
  try {
    return await question(resolver);
  } catch (error) {
    if (absent.has((error as { code?: string }).code ?? '')) return [];
    throw error;
  }
}
