import type { KubeClient } from '#kube/client/client.ts';
import type { AcmeClient } from '#machine/certificate/acme/client.ts';
import { fulfil, type Challenges } from '#machine/certificate/acme/issue.ts';
import { AcmeProblem } from '#machine/certificate/acme/problem.ts';
import {
  CertificateFailed,
  CertificateLimited,
  CertificatePending,
  NodeClassError,
} from '#machine/errors.ts';
import { anchorsOf } from '#pki/chain.ts';
import type { UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';
import { hours, minutes, type Clock, type Instant } from '#schemas/time/clock.ts';

import type { Clouds } from '../../clouds.ts';
import { readSecret, textIn } from '../../read-secret.ts';
import type { CertificateRequest, CertificateSource, MachineCertificate } from '../source.ts';
import { AcmeAccount } from './account.ts';
import { countedIn, roomAt } from './limits.ts';

/** Where an authority says to wait and not how long. */
const unsaid = hours(1);
/** What an authority that is away is not asked for. */
const away = minutes(1);
const mostPerWeek = 50;

const fault = { condition: 'CertificateReady', code: 'KPU366', canPass: true } as const;

type Acme = NonNullable<UnikraftNodeClassSpec['certificate']['api']['acme']>;

export interface AcmeParts {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly clock: Clock;
  readonly clouds: Pick<Clouds, 'dns'>;
  /** Texts of a name as the world reads them. */
  readonly textsAt: (name: string, signal: AbortSignal) => Promise<readonly string[]>;
}

/** One authority. */
interface Authority {
  readonly account: AcmeAccount;
  readonly client: AcmeClient;
  readonly ca: string | undefined;
  /** It is asked for nothing before. */
  restsUntil: Instant;
  /** What it said. */
  why: string;
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
  readonly #authorities = new Map<string, Promise<Authority>>();
  /** By UID of the claim. */
  readonly #jobs = new Map<string, Job>();

  constructor(parts: AcmeParts) {
    this.#parts = parts;
  }

  /** @throws NodeClassError unless the authority has an account for us and nothing says to wait */
  async check(spec: UnikraftNodeClassSpec, signal: AbortSignal): Promise<void> {
    const authority = await this.#authority(spec);
    try {
      await this.#room(authority, spec);
      await authority.client.account(signal);
    } catch (error) {
      signal.throwIfAborted();
      const known = this.#known(error, authority);
      if (known instanceof CertificateLimited)
        throw new NodeClassError(
          { ...fault, code: 'KPU365', reason: 'CertificatesLimited' },
          known.message,
        );
      if (known instanceof CertificateFailed)
        throw new NodeClassError({ ...fault, reason: 'AuthorityRefuses' }, known.message);
      throw known;
    }
  }

  async certificateFor(request: CertificateRequest): Promise<MachineCertificate> {
    const { uid } = request.claim.metadata;
    const job = this.#jobs.get(uid);
    if (job && !job.outcome)
      throw new CertificatePending('The authority is asked for the certificate');
    this.#jobs.delete(uid);
    if (job?.outcome) return job.outcome();
    const authority = await this.#authority(request.nodeClass.spec);
    await this.#room(authority, request.nodeClass.spec);
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
    await this.#tidyUp(request, this.#account(request.nodeClass.spec), signal);
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
        const known = this.#known(error, authority);
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
    const placed = (await account.read()).challenges[uid];
    if (!placed) return;
    const dns = await this.#parts.clouds.dns(nodeClass.spec);
    for (const { name, text } of placed) {
      // oxlint-disable-next-line no-await-in-loop -- a name may have several
      await dns.removeText?.(nodeClass.dnsZoneID, name, text, signal);
    }
    await account.change(({ challenges }) => {
      const { [uid]: _, ...others } = challenges;
      return { challenges: others };
    });
  }

  /** Each is written down before it stands in the zone. */
  async #challenges(
    { claim, nodeClass }: CertificateRequest,
    account: AcmeAccount,
  ): Promise<Challenges> {
    const { uid } = claim.metadata;
    const dns = await this.#parts.clouds.dns(nodeClass.spec);
    return {
      add: async (name, text, signal) => {
        await account.change(({ challenges }) => ({
          challenges: { ...challenges, [uid]: [...(challenges[uid] ?? []), { name, text }] },
        }));
        if (!dns.addText) throw takesNone();
        await dns.addText(nodeClass.dnsZoneID, name, text, signal);
      },
      isSeen: async (name, text, signal) =>
        (await this.#parts.textsAt(name, signal)).includes(text),
    };
  }

  /** @throws CertificateLimited while the authority said to wait, or the week's certificates are used up */
  async #room(authority: Authority, { dns, certificate: { api } }: UnikraftNodeClassSpec) {
    const { clock } = this.#parts;
    const until = (at: Instant): string => `for ${Math.ceil((at - clock.now()) / minutes(1))} min`;
    if (clock.now() < authority.restsUntil) {
      throw new CertificateLimited(
        `The authority is left alone ${until(authority.restsUntil)}: ${authority.why}`,
      );
    }
    const most = api.acme?.certificatesPerWeek ?? mostPerWeek;
    const { issued } = await authority.account.read();
    const room = roomAt(issued[dns.zone] ?? [], most, clock);
    if (room <= clock.now()) return;
    throw new CertificateLimited(
      `${most} certificates for ${dns.zone} were asked for within a week, as many as may be; there is room again in ${until(room)}`,
    );
  }

  #known(error: unknown, authority: Authority): unknown {
    if (!(error instanceof AcmeProblem)) return error;
    const { clock } = this.#parts;
    if (error.isForTheRate || error.status === 0 || error.status >= 500) {
      const rest = error.retryAfter ?? (error.isForTheRate ? unsaid : away);
      authority.restsUntil = Math.max(authority.restsUntil, clock.now() + rest);
      authority.why = error.message;
    }
    if (error.isForTheRate)
      return new CertificateLimited(`The authority says: ${error.message}`, { cause: error });
    return new CertificateFailed(`The authority says: ${error.message}`, { cause: error });
  }

  async #authority({ certificate: { api } }: UnikraftNodeClassSpec): Promise<Authority> {
    const { acme } = api;
    if (!acme)
      throw new Error(
        'the node class names no authority, which validation keeps from getting this far',
      );
    const { directoryURL, email } = acme;
    const ca = await this.#caOf(acme);
    const key = JSON.stringify([directoryURL, email, ca]);
    const known = this.#authorities.get(key) ?? this.#connect(acme, ca);
    this.#authorities.set(key, known);
    return known.catch((error: unknown) => {
      this.#authorities.delete(key);
      throw error;
    });
  }

  #account({ certificate: { api } }: UnikraftNodeClassSpec): AcmeAccount {
    const { client, namespace } = this.#parts;
    return new AcmeAccount(client, namespace, api.acme?.directoryURL ?? '');
  }

  async #connect({ directoryURL, email }: Acme, ca: string | undefined): Promise<Authority> {
    const { client, namespace } = this.#parts;
    const account = new AcmeAccount(client, namespace, directoryURL);
    const { key } = await account.read();
    const { AcmeClient: Client } = await import('#machine/certificate/acme/client.ts');
    const acme = new Client({ directoryURL, email, ca, accountKey: key });
    return { account, client: acme, ca, restsUntil: -Infinity, why: '' };
  }

  async #caOf({ caSecretRef }: Acme): Promise<string | undefined> {
    if (!caSecretRef) return undefined;
    const { client, namespace } = this.#parts;
    const { name } = caSecretRef;
    const secret = await readSecret(client, { namespace, name });
    const ca = secret ? textIn(secret, 'ca.crt') : '';
    if (ca !== '') return ca;
    const message = secret
      ? `has no "ca.crt" in its data`
      : 'does not exist; it is looked for every few seconds';
    throw new NodeClassError(
      { ...fault, reason: 'SecretNotFound' },
      `Secret ${namespace}/${name} ${message}`,
    );
  }
}

const takesNone = (): NodeClassError =>
  new NodeClassError(
    { ...fault, reason: 'ZoneTakesNoChallenges' },
    'ACME needs a zone that the operator writes to itself; choose Route53, CloudDNS or RFC2136 in spec.dns.provider',
  );
