import type { Logger } from '#kube/log.ts';
import { certificateProblem, type PemPair } from '#pki/certificate.ts';
import type { Secret } from '#schemas/kubernetes/core.ts';
import { seconds, type Clock, type Duration } from '#schemas/time/clock.ts';

import type { CaBundle } from './ca-bundle.ts';
import { Upkeep } from './upkeep.ts';

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
export class GivenCertificate extends Upkeep {
  readonly name = 'webhook.certificate';
  readonly #parts: GivenCertificateParts;
  #served: PemPair | undefined;
  #told: string | undefined;

  constructor(parts: GivenCertificateParts) {
    super(parts.clock, `Secret ${parts.from} has not been read yet`);
    this.#parts = parts;
  }

  override async look(): Promise<Duration> {
    const problem = this.#take() ?? (await this.#readBundles());
    if (problem !== undefined && problem !== this.#told) {
      this.#parts.log.warn({ because: problem }, 'the certificate is not in order');
    }
    this.#told = problem;
    this.standing.trouble = this.#served ? undefined : problem;
    return interval;
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
      this.standing.live = bundles;
      this.standing.hooks = hooks;
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
