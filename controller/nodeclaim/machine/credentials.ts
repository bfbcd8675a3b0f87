import { randomBytes } from 'node:crypto';

import type { KubeClient } from '#kube/client/client.ts';
import { isAlreadyExists, isNotFound } from '#kube/client/errors.ts';
import { CreateError } from '#machine/errors.ts';
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { Secret } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { secrets, type Key } from '#schemas/kubernetes/resource.ts';
import { machineName } from '#schemas/machine-name.ts';
import { labels } from '#schemas/names.ts';
import type { ResolvedNodeClass } from '#schemas/nodeclass/types.ts';

import { callbackUrl, type Ticket, type TicketOffice } from '../../bootstrap-mode.ts';
import type { Certificates } from '../../certificates/certificates.ts';
import type { CertificateRequest, MachineCertificate } from '../../certificates/source.ts';
import type { Context } from '../../context.ts';
import { readSecret, textIn } from '../../read-secret.ts';
import type { ClaimInHand } from '../steps/claim-in-hand.ts';
import { credentialsName } from './own-secrets.ts';

/** What one machine and those who talk to it share; fixed for its whole life, since user data is. */
export interface MachineCredentials {
  readonly token: string;
  /** Undefined for a machine without a certificate of ours. */
  readonly tls: MachineCertificate | undefined;
  /** What a machine is told in place of all this, if it has to call for it. */
  readonly ticket: Ticket | undefined;
}

/** Keys in the Secret of a machine that calls, beside those of any machine. */
export const secretKeys = {
  token: 'bootstrap-token',
  ca: 'bootstrap-ca.crt',
  /** When the token served, and in which call; it does so once. */
  used: 'bootstrapped-at',
} as const;

export function credentialsKey(namespace: string, claim: Live<NodeClaim>): Key {
  return { namespace, name: credentialsName(machineName(claim)) };
}

/**
 * One Secret per machine in the operator's namespace. It is made before the instance and never changed: a second
 * token or key would change the user data, and with it the meaning of the launch's client token. For a machine that
 * calls, what it has got is added once.
 */
export class CredentialStore {
  readonly #client: KubeClient;
  readonly #namespace: string;
  readonly #certificates: Certificates;
  readonly #tickets: TicketOffice;
  /** Secrets are not watched, so what was read once is kept as long as the claim is in work. */
  readonly #known = new Map<string, MachineCredentials>();

  constructor(
    { client, namespace, caches }: Pick<Context, 'client' | 'namespace' | 'caches'>,
    certificates: Certificates,
    tickets: TicketOffice,
  ) {
    this.#client = client;
    this.#namespace = namespace;
    this.#certificates = certificates;
    this.#tickets = tickets;
    // also of claims that somebody took the finalizer off, which never come to remove()
    caches.nodeClaims.subscribe({ delete: ({ metadata }) => this.#known.delete(metadata.uid) });
  }

  /** Undefined when they were never made, or are gone. */
  async get(hand: ClaimInHand): Promise<MachineCredentials | undefined> {
    const { claimUid } = hand.identity;
    const known = this.#known.get(claimUid);
    if (known) return known;
    const secret = await this.#read(hand);
    return secret && this.#keep(claimUid, secret);
  }

  /**
   * Makes them, or returns those that are there. `fqdn` is the only name that the certificate has to cover.
   *
   * @throws MachineError while there is no certificate yet
   */
  async ensure(
    hand: ClaimInHand,
    nodeClass: ResolvedNodeClass,
    fqdn: string,
    signal: AbortSignal,
  ): Promise<MachineCredentials> {
    // Before the intent of this very pass nobody made any, but for a try that was given up, as the answer then says.
    const present = hand.intentIsNew
      ? this.#known.get(hand.identity.claimUid)
      : await this.get(hand);
    if (present) return present;
    const tls = await this.#certificates.for(requestOf(hand, nodeClass, [fqdn]), signal);
    const url = callbackUrl(nodeClass.spec);
    const { claimUid } = hand.identity;
    const ticket = url === undefined ? undefined : await this.#tickets.mint(claimUid, url);
    const secret = this.#secret(hand, {
      token: randomBytes(32).toString('base64url'),
      ...(tls && { 'tls.crt': tls.certificate, 'tls.key': tls.privateKey, 'ca.crt': tls.ca }),
      ...(ticket && { [secretKeys.token]: ticket.token, [secretKeys.ca]: ticket.ca }),
    });
    const made = await this.#client.create(secrets, secret).catch(async (error: unknown) => {
      const earlier = isAlreadyExists(error) ? await this.#read(hand) : undefined;
      if (!earlier) throw error;
      return earlier;
    });
    return this.#keep(hand.identity.claimUid, made);
  }

  /** Those of another machine that has the name are left alone. */
  async remove(hand: ClaimInHand, signal: AbortSignal): Promise<void> {
    const { nodeClass } = hand.revision ?? {};
    if (nodeClass) await this.#certificates.release(requestOf(hand, nodeClass, []), signal);
    const secret = await readSecret(this.#client, this.#key(hand));
    if (secret && isOf(secret, hand)) {
      const { uid } = secret.metadata;
      await this.#client.delete(secrets, this.#key(hand), { uid }).catch(absent);
    }
    this.#known.delete(hand.identity.claimUid);
  }

  /** @throws CreateError for one that is another machine's: names are short, so two in a great many are alike */
  async #read(hand: ClaimInHand): Promise<Secret | undefined> {
    const key = this.#key(hand);
    const secret = await readSecret(this.#client, key);
    if (!secret || isOf(secret, hand)) return secret;
    const message = `Secret ${key.namespace}/${key.name} was not made for this machine`;
    throw new CreateError('MachineNameTaken', message, 'slow');
  }

  #keep(claimUid: string, secret: Secret): MachineCredentials {
    const read = (key: string): string => textIn(secret, key);
    const [certificate, privateKey, ca] = [read('tls.crt'), read('tls.key'), read('ca.crt')];
    const tls = ca === '' ? undefined : { certificate, privateKey, ca };
    const [token, bootstrapCa] = [read(secretKeys.token), read(secretKeys.ca)];
    const ticket = token === '' ? undefined : { token, ca: bootstrapCa };
    const credentials = { token: read('token'), tls, ticket };
    // what its machine has still to call for changes when it does
    if (tls?.certificate !== '') this.#known.set(claimUid, credentials);
    return credentials;
  }

  #key({ claim }: ClaimInHand): Key {
    return credentialsKey(this.#namespace, claim);
  }

  #secret(hand: ClaimInHand, stringData: Record<string, string>): Secret {
    const { identity } = hand;
    return {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        ...this.#key(hand),
        labels: { [labels.claimUid]: identity.claimUid, [labels.nodeClass]: identity.nodeClass },
      },
      type: 'Opaque',
      immutable: stringData[secretKeys.token] === undefined,
      data: Object.fromEntries(
        Object.entries(stringData)
          .filter(([, text]) => text !== '')
          .map(([name, text]) => [name, Buffer.from(text).toString('base64')]),
      ),
    };
  }
}

function requestOf(
  { claim, identity }: ClaimInHand,
  nodeClass: ResolvedNodeClass,
  names: readonly string[],
): CertificateRequest {
  return { claim, machine: identity.name, nodeClass, names };
}

function isOf({ metadata }: Secret, { identity }: ClaimInHand): boolean {
  return metadata?.labels?.[labels.claimUid] === identity.claimUid;
}

function absent(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
  return undefined;
}
