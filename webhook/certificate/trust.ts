import { ApiError } from '#kube/client/errors.ts';
import type { Logger } from '#kube/log.ts';
import type { Runnable } from '#kube/runtime/reconciler.ts';
import type { Authority } from '#pki/authority.ts';
import { seconds, type Clock } from '#schemas/time/clock.ts';

import type { CaBundle } from './ca-bundle.ts';
import { AuthorityReplaced, type CaSecret } from './ca-secret.ts';

export interface TrustParts {
  readonly authority: Authority;
  readonly secret: CaSecret;
  readonly bundle: CaBundle;
  readonly clock: Clock;
  readonly log: Logger;
}

/** How long a bundle that somebody took out (kubectl replace, a Git tool that writes whole objects) stays out. */
const settled = seconds(15);
/** While something is missing: a configuration that is applied now is of use only with the bundle. */
const unsettled = seconds(2);

/**
 * Keeps the API server trusting this process: the authority in its Secret, and in both webhook configurations. It
 * looks now and then and writes only when something is missing, so replicas do not disturb each other.
 */
export class Trust implements Runnable {
  readonly name = 'webhook.trust';
  readonly #parts: TrustParts;
  #trouble: string | undefined = 'the CA is not published yet';

  constructor(parts: TrustParts) {
    this.#parts = parts;
  }

  /** Why the API server may not trust us; undefined when it does, as far as is known. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  /** @throws AuthorityReplaced */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#parts;
    while (!signal.aborted) {
      // oxlint-disable-next-line no-await-in-loop -- one look after the other
      const wait = (await this.look()) ? settled : unsettled;
      // oxlint-disable-next-line no-await-in-loop -- as above
      await clock.sleep(wait, signal).catch(() => {});
    }
  }

  /** @returns whether everything is there and in order @throws AuthorityReplaced */
  async look(): Promise<boolean> {
    const { authority, secret, bundle, log } = this.#parts;
    try {
      await secret.keep(authority);
      const { absent, written } = await bundle.publish();
      if (written.length > 0) log.info({ written }, 'published the CA');
      this.#trouble = undefined;
      return absent.length === 0;
    } catch (error) {
      if (error instanceof AuthorityReplaced) throw error;
      this.#note(error);
      return false;
    }
  }

  /** An API server that does not answer has not changed its mind either: what was published is taken to be still. */
  #note(error: unknown): void {
    const answered = error instanceof ApiError && error.code < 500;
    const trouble = error instanceof Error ? error.message : String(error);
    if (trouble !== this.#trouble) this.#parts.log.warn({ err: error }, 'cannot publish the CA');
    if (answered || this.#trouble !== undefined) this.#trouble = trouble;
  }
}
