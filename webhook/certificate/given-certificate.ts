import type { Logger } from '#kube/log.ts';
import { certificateProblem, type PemPair } from '#pki/certificate.ts';
import type { Secret } from '#schemas/kubernetes/core.ts';
import { seconds, type Clock } from '#schemas/time/clock.ts';

import type { CaBundle } from './ca-bundle.ts';
import type { Identity } from './identity.ts';
import { Wakeable } from './wakeable.ts';

export interface GivenCertificateParts {
  /** `namespace/name` of the Secret, for people. */
  readonly from: string;
  /** The Secret as the watch has it; undefined when it is not there. */
  readonly seen: () => Secret | undefined;
  readonly names: readonly string[];
  readonly bundle: CaBundle;
  /** Takes the certificate to serve with from now on. */
  readonly serve: (pair: PemPair) => void;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What others write into the configurations is looked at this often. */
const interval = seconds(15);

/**
 * Serves with a certificate that somebody else renews, such as cert-manager, whose injector writes the bundles too.
 * Nothing is written from here. What cannot be served with leaves the one before in place.
 */
export class GivenCertificate implements Identity {
  readonly name = 'webhook.certificate';
  readonly #parts: GivenCertificateParts;
  readonly #sleeper: Wakeable;
  #served: PemPair | undefined;
  #live: readonly string[] = [];
  #trouble: string | undefined;
  #told: string | undefined;
  #hooks = 0;

  constructor(parts: GivenCertificateParts) {
    this.#parts = parts;
    this.#sleeper = new Wakeable(parts.clock);
    this.#trouble = `Secret ${parts.from} has not been read yet`;
  }

  get trouble(): string | undefined {
    return this.#trouble;
  }

  get live(): readonly string[] {
    return this.#live;
  }

  get hooks(): number {
    return this.#hooks;
  }

  /** Looks again at once: the Secret has changed. */
  wake(): void {
    this.#sleeper.wake();
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // oxlint-disable-next-line no-await-in-loop -- one look after the other
      await this.look();
      // oxlint-disable-next-line no-await-in-loop -- as above
      await this.#sleeper.sleep(interval, signal);
    }
  }

  async look(): Promise<void> {
    const problem = this.#take() ?? (await this.#readBundles());
    if (problem !== undefined && problem !== this.#told) {
      this.#parts.log.warn({ because: problem }, 'the certificate is not in order');
    }
    this.#told = problem;
    this.#trouble = this.#served ? undefined : problem;
  }

  /** @returns why what the Secret holds is not served */
  #take(): string | undefined {
    const { seen, from, names, clock, serve, log } = this.#parts;
    const secret = seen();
    if (!secret) return `Secret ${from} is not there`;
    const pair = pairIn(secret);
    if (pair.certificate === this.#served?.certificate) return undefined;
    const problem = certificateProblem(pair, { at: clock.stamp(), names: names.slice(0, 1) });
    if (problem !== undefined) return `Secret ${from}: ${problem}`;
    serve(pair);
    this.#served = pair;
    log.info({}, 'serves with a new certificate');
    return undefined;
  }

  /** @returns why they cannot be read; those read before are taken to be there still */
  async #readBundles(): Promise<string | undefined> {
    try {
      const { bundles, hooks } = await this.#parts.bundle.read();
      this.#live = bundles;
      this.#hooks = hooks;
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
}

function pairIn({ data }: Secret): PemPair {
  const read = (file: string): string => Buffer.from(data?.[file] ?? '', 'base64').toString('utf8');
  return { certificate: read('tls.crt'), privateKey: read('tls.key') };
}
