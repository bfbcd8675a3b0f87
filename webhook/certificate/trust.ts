import { ApiError } from '#kube/client/errors.ts';
import type { Logger } from '#kube/log.ts';
import { certificatesIn, type PemPair } from '#pki/certificate.ts';
import {
  milliseconds,
  seconds,
  type Clock,
  type Duration,
  type Instant,
} from '#schemas/time/clock.ts';

import { BundleLost, type CaBundle } from './ca-bundle.ts';
import type { Leaf } from './leaf.ts';
import type { RingKeeper } from './ring-keeper.ts';
import { bundleOf, type Lifetimes, type Ring } from './ring.ts';
import { Upkeep } from './upkeep.ts';

export interface TrustParts {
  readonly keeper: RingKeeper;
  readonly bundle: CaBundle;
  readonly leaf: Leaf;
  /** Takes the certificate to serve with from now on. */
  readonly serve: (pair: PemPair) => void;
  readonly lifetimes: Lifetimes;
  readonly clock: Clock;
  readonly log: Logger;
}

/** How long a bundle that somebody took out (kubectl replace, a Git tool that writes whole objects) stays out. */
const settled = seconds(15);
/** While something is missing: a configuration that is applied now is of use only with the bundle. */
const unsettled = seconds(2);
/** A step may make the next one due at once; a mistake must not make a hot loop of it. */
const shortest = milliseconds(200);

/**
 * Keeps the API server trusting this process, in the order of `ring.ts`: authorities in the Secret, all of them in both
 * configurations, then a leaf by one that has stood there long enough. It looks now and then, and when the Secret
 * changes, and writes only what is missing, so replicas do not disturb each other and any of them can go on where
 * another one ended.
 */
export class Trust extends Upkeep {
  readonly name = 'webhook.trust';
  readonly #parts: TrustParts;
  /** Since when each certificate has stood in every configuration, as this process saw it. */
  #trusted: ReadonlyMap<string, Instant> = new Map();
  #told: string | undefined;

  constructor(parts: TrustParts) {
    super(parts.clock, 'the CA is not published yet');
    this.#parts = parts;
  }

  override async look(): Promise<Duration> {
    try {
      const wait = await this.#look();
      this.standing.trouble = undefined;
      this.#told = undefined;
      return Math.max(wait, shortest);
    } catch (error) {
      this.#note(error);
      return unsettled;
    }
  }

  async #look(): Promise<Duration> {
    const { keeper, bundle, leaf, log } = this.#parts;
    const ring = await keeper.current(leaf.issuer);
    await this.#follow(ring); // first: what is served must not end because configurations cannot be written
    const ca = bundleOf(ring);
    const { absent, written, hooks } = await bundle.publish(ca);
    this.standing.hooks = hooks;
    if (written.length > 0) log.info({ written }, 'published the CA');
    this.standing.live = [ca];
    this.#see(ca);
    const { done, wait } = await keeper.turn(ring.next && this.#since(ring.next));
    if (done !== undefined) log.info({ step: done }, 'the CA is being renewed');
    const soon = absent.length > 0 ? unsettled : settled;
    return Math.min(soon, wait, leaf.wait > 0 ? leaf.wait : unsettled);
  }

  /** The configurations now hold these certificates and no others. */
  #see(ca: string): void {
    const now = this.#parts.clock.now();
    this.#trusted = new Map(
      certificatesIn(ca).map((one) => [one, this.#trusted.get(one) ?? now] as const),
    );
  }

  async #follow(ring: Ring): Promise<void> {
    const { leaf, serve, clock, lifetimes, log } = this.#parts;
    const since = this.#since(ring.signing);
    const isSettled = since !== undefined && clock.now() - since >= lifetimes.settle;
    const isTrusted = leaf.issuer === ring.signing.certificate || isSettled;
    if (!(await leaf.follow(ring, isTrusted))) return;
    serve(leaf.pair);
    log.info({}, 'serves with a new certificate');
  }

  #since({ certificate }: PemPair): Instant | undefined {
    const [first = ''] = certificatesIn(certificate);
    return this.#trusted.get(first);
  }

  /** An API server that does not answer has not changed its mind either: what was published is taken to be still. */
  #note(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    if (message !== this.#told) this.#parts.log.warn({ err: error }, 'cannot keep up the CA');
    this.#told = message;
    const unreachable = !(error instanceof ApiError) || error.code >= 500;
    if (this.trouble !== undefined || !unreachable || error instanceof BundleLost) {
      this.standing.trouble = message;
    }
  }
}
