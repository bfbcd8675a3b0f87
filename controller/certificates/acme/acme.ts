import { fulfil, type Challenges } from '#machine/certificate/acme/issue.ts';
import { CertificateFailed, CertificatePending, NodeClassError } from '#machine/errors.ts';
import { anchorsOf } from '#pki/chain.ts';
import type { UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';

import type { Clouds } from '../../clouds.ts';
import type { CertificateRequest, CertificateSource, MachineCertificate } from '../source.ts';
import type { AcmeAccount } from './account.ts';
import { Authorities, type AuthoritiesParts } from './authorities.ts';
import { fault, type Authority } from './authority.ts';
import { countedIn } from './limits.ts';

export interface AcmeParts extends AuthoritiesParts {
  readonly clouds: Pick<Clouds, 'dns'>;
  /** Texts of a name as the world reads them. */
  readonly textsAt: (name: string, signal: AbortSignal) => Promise<readonly string[]>;
}

interface Job {
  readonly stop: AbortController;
  done: Promise<void>;
  /** What came of it; absent while it goes on. */
  outcome?: () => MachineCertificate;
}

/**
 * Mode ACME: a certificate for each machine from an authority that is shown, by a text in the zone, that the name is ours.
 *
 * It takes seconds to minutes, so it goes on beside the chain, which comes back to see. Nothing of it but the account's Secret
 * outlives the process: an order that a dead process left is not gone on with, and its challenges are taken down.
 */
export class AcmeCertificates implements CertificateSource {
  readonly #parts: AcmeParts;
  readonly #authorities: Authorities;
  /** By UID of the claim. */
  readonly #jobs = new Map<string, Job>();

  constructor(parts: AcmeParts) {
    this.#parts = parts;
    this.#authorities = new Authorities(parts);
  }

  /** @throws NodeClassError unless the authority has an account for us and nothing says to wait */
  async check(spec: UnikraftNodeClassSpec, signal: AbortSignal): Promise<void> {
    await (await this.#authorities.of(spec)).check(spec, signal);
  }

  async certificateFor(request: CertificateRequest): Promise<MachineCertificate> {
    const { uid } = request.claim.metadata;
    const job = this.#jobs.get(uid);
    if (job && !job.outcome)
      throw new CertificatePending('The authority is asked for the certificate');
    this.#jobs.delete(uid);
    if (job?.outcome) return job.outcome();
    const authority = await this.#authorities.of(request.nodeClass.spec);
    await authority.expectRoom(request.nodeClass.spec);
    this.#begin(request, authority);
    throw new CertificatePending('The authority is asked for the certificate');
  }

  /** Needs the zone and not the authority, which may be away when machines go. */
  async release(request: CertificateRequest, signal: AbortSignal): Promise<void> {
    const { uid } = request.claim.metadata;
    const job = this.#jobs.get(uid);
    job?.stop.abort(new Error('the machine is not wanted any more'));
    await job?.done; // or it could put up one more
    this.#jobs.delete(uid);
    const { acme } = request.nodeClass.spec.certificate.api;
    if (acme) await this.#tidyUp(request, this.#authorities.accountOf(acme), signal);
  }

  #begin(request: CertificateRequest, authority: Authority): void {
    const stop = new AbortController();
    const job: Job = { stop, done: Promise.resolve() };
    this.#jobs.set(request.claim.metadata.uid, job);
    job.done = this.#issue(request, authority, stop.signal).then(
      (made) => {
        job.outcome = () => made;
      },
      (error: unknown) => {
        const known = authority.toError(error);
        job.outcome = () => {
          throw known;
        };
      },
    );
  }

  async #issue(
    request: CertificateRequest,
    authority: Authority,
    signal: AbortSignal,
  ): Promise<MachineCertificate> {
    const { names, nodeClass } = request;
    const { client, account } = authority;
    const { clock } = this.#parts;
    await this.#tidyUp(request, account, signal);
    const url = await client.newOrder(names, signal);
    const { zone } = nodeClass.spec.dns;
    await account.change(({ issued }) => ({
      issued: { ...issued, [zone]: [...countedIn(issued[zone] ?? [], clock), clock.stamp()] },
    }));
    try {
      const challenges = await this.#challenges(request, account);
      const pair = await fulfil(url, names, { client, challenges, clock }, signal);
      const ca = anchorsOf(pair.certificate, authority.ca ?? '');
      if (ca !== '') return { ...pair, ca };
      throw new CertificateFailed(
        'No authority that is trusted signed what was issued; name it in certificate.api.acme.caSecretRef',
      );
    } finally {
      // What cannot be taken down now is written down, and goes with the machine: no reason to lose what was issued.
      if (!signal.aborted) await this.#tidyUp(request, account, signal).catch(() => undefined);
    }
  }

  /** Takes down what was put into the zone for the machine, also by a process that died. */
  async #tidyUp(
    { claim, nodeClass }: CertificateRequest,
    account: AcmeAccount,
    signal: AbortSignal,
  ): Promise<void> {
    const { uid } = claim.metadata;
    const placed = (await account.challenges())[uid];
    if (!placed) return;
    const dns = await this.#parts.clouds.dns(nodeClass.spec);
    for (const { zoneID, name, text } of placed) {
      // oxlint-disable-next-line no-await-in-loop -- a name may have several
      await dns.removeText?.(zoneID, name, text, signal);
    }
    await account.forgetChallenges(uid, placed);
  }

  /** Each is written down before it stands in the zone. */
  async #challenges(
    { claim, nodeClass }: CertificateRequest,
    account: AcmeAccount,
  ): Promise<Challenges> {
    const { uid } = claim.metadata;
    const { spec, dnsZoneID: zoneID } = nodeClass;
    const dns = await this.#parts.clouds.dns(spec);
    return {
      add: async (name, text, signal) => {
        if (!dns.addText) throw takesNone();
        await account.noteChallenge(uid, { zoneID, name, text });
        await dns.addText(zoneID, name, text, signal);
      },
      isSeen: async (name, text, signal) =>
        (await this.#parts.textsAt(name, signal)).includes(text),
    };
  }
}

const takesNone = (): NodeClassError =>
  new NodeClassError(
    { ...fault, reason: 'ZoneTakesNoChallenges' },
    'ACME needs a zone that the operator writes to itself; choose Route53, CloudDNS or RFC2136 in spec.dns.provider',
  );
