import { randomUUID, timingSafeEqual } from 'node:crypto';

import { isConflict, isNotFound } from '#kube/client/errors.ts';
import type { CloudIdentities } from '#machine/bootstrap/cloud-identity.ts';
import { differenceBetween } from '#machine/bootstrap/launched.ts';
import type { OneTimeToken } from '#machine/bootstrap/one-time-token.ts';
import { BootstrapRefused } from '#machine/bootstrap/refusal.ts';
import { audienceOf } from '#machine/bootstrap/unproven.ts';
import { machineNames } from '#machine/names.ts';
import type { Authority } from '#pki/authority.ts';
import { InvalidRequest, keyOfRequest } from '#pki/certificate-request.ts';
import { nodeClaims, type NodeClaim } from '#schemas/karpenter/types.ts';
import type { Secret } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { secrets } from '#schemas/kubernetes/resource.ts';
import { machineName } from '#schemas/machine-name.ts';
import { annotations } from '#schemas/names.ts';
import type { ResolvedNodeClass } from '#schemas/nodeclass/types.ts';
import { parseProviderID } from '#schemas/provider-id.ts';

import { callbackUrl } from '../bootstrap-mode.ts';
import { by } from '../caches.ts';
import { validityOf } from '../certificates/private-ca.ts';
import type { Context } from '../context.ts';
import { activationOf } from '../nodeclaim/launch/activation.ts';
import { credentialsKey, secretKeys } from '../nodeclaim/machine/credentials.ts';
import type { Revisions } from '../nodeclass/revisions.ts';
import { readSecret, textIn } from '../read-secret.ts';
import { refusedCall } from './events.ts';
import type { Tickets } from './tickets.ts';

/** What a machine shows. */
export interface Call {
  readonly token: string;
  /** PKCS#10, PEM. */
  readonly request: string;
  /** The cloud's token on who calls. */
  readonly identity: string;
}

/** Told of the claim once the token is known to be ours, and before anybody is asked; throws what ends the call. */
export type Admit = (claimUid: string) => void;

/** What it gets: the part of docs/concepts/user-data.md that does not stand in its user data. */
export interface Granted {
  readonly users: readonly { readonly name: 'kraftlet'; readonly token: string }[];
  /** Without a key it is for the key that was asked for; absent for a machine that gets no certificate. */
  readonly tls?: { readonly certificate: string; readonly privateKey?: string };
  readonly activationToken?: string;
}

/** The caller may be right, and nobody can say so yet: it shall call again. */
export class TooEarly extends Error {
  override readonly name = 'TooEarly';
}

export interface CallbackParts {
  readonly context: Context;
  readonly revisions: Revisions;
  readonly tickets: Tickets;
  readonly identities: CloudIdentities;
  readonly authorityOf: (nodeClass: ResolvedNodeClass) => Promise<Authority>;
}

/** A machine that is awaited. */
interface Awaited {
  readonly claim: Live<NodeClaim>;
  readonly nodeClass: ResolvedNodeClass;
  readonly secret: Live<Secret>;
}

/**
 * Gives a machine its secrets, once, when three things agree: the token that only its user data holds, the cloud's word
 * on which instance calls, and the instance that was launched for its claim. Any replica may answer: that a token has
 * served is written to the machine's Secret, at the version that was read, before anything is given.
 *
 * All that can fail is done before that write. If the answer is lost after it, the machine gets nothing more and is
 * replaced at its deadline: to give twice would be to give to whoever listened.
 */
export class Callback {
  readonly #parts: CallbackParts;

  constructor(parts: CallbackParts) {
    this.#parts = parts;
  }

  /** @throws BootstrapRefused @throws TooEarly @throws KeysUnavailable @throws NodeClassError @throws ApiError */
  async answer(call: Call, admit: Admit = () => {}): Promise<Granted> {
    const ticket = await this.#read(call.token);
    admit(ticket.claimUid);
    const claim = await this.#claimOf(ticket.claimUid);
    try {
      const machine = await this.#awaited(claim, call.token, ticket);
      await this.#identify(machine, call.identity);
      return await this.#grant(machine, call.request);
    } catch (error) {
      if (error instanceof BootstrapRefused) this.#tell(claim, error);
      throw error;
    }
  }

  /** A token that is over says truly which machine it is of; anything else that is refused says nothing. */
  async #read(token: string): Promise<OneTimeToken> {
    try {
      return await this.#parts.tickets.read(token);
    } catch (error) {
      const uid = error instanceof BootstrapRefused ? error.claimUid : undefined;
      const [claim] = this.#parts.context.caches.nodeClaims.by(by.uid, uid ?? '');
      if (error instanceof BootstrapRefused && claim) this.#tell(claim, error);
      throw error;
    }
  }

  /** From the API server: what was launched may have been written a moment ago. */
  async #claimOf(uid: string): Promise<Live<NodeClaim>> {
    const { client, caches } = this.#parts.context;
    const [known] = caches.nodeClaims.by(by.uid, uid);
    const claim = known && (await client.get(nodeClaims, known.metadata).catch(absent));
    if (claim?.metadata.uid === uid && !claim.metadata.deletionTimestamp) return claim;
    throw new BootstrapRefused('token', 'the machine of the token is not awaited any more');
  }

  async #awaited(claim: Live<NodeClaim>, token: string, { url }: OneTimeToken): Promise<Awaited> {
    const { context, revisions } = this.#parts;
    const nodeClass = revisions.get(claim.metadata.annotations?.[annotations.revision] ?? '');
    const secret = await readSecret(context.client, credentialsKey(context.namespace, claim));
    if (!nodeClass || !secret) throw new TooEarly('the machine is not written down yet');
    if (!isSame(textIn(secret, secretKeys.token), token) || callbackUrl(nodeClass.spec) !== url) {
      throw new BootstrapRefused('token', 'the token is not the one that the machine was given');
    }
    refuseUsed(secret);
    return { claim, nodeClass, secret };
  }

  async #identify({ claim, nodeClass }: Awaited, identity: string): Promise<void> {
    const { identities, context } = this.#parts;
    const audience = audienceOf(claim.metadata.uid);
    const caller = await identities.read(identity, audience, context.clock.stamp());
    const launched = parseProviderID(claim.status?.providerID ?? '');
    if (!launched) throw new TooEarly('the launch of the machine is not written down yet');
    const { cloud, region, zone, id: instance } = launched;
    const account = accountOf(nodeClass);
    const difference = differenceBetween(caller, { cloud, account, region, zone, instance });
    if (difference !== undefined) throw new BootstrapRefused('identity', difference);
  }

  async #grant(machine: Awaited, request: string): Promise<Granted> {
    const { nodeClass, secret } = machine;
    const tls = await this.#certificate(machine, request);
    const activation = await activationOf(this.#parts.context, nodeClass);
    await this.#burn(secret, tls?.certificate);
    return {
      users: [{ name: 'kraftlet', token: textIn(secret, 'token') }],
      ...(tls && { tls }),
      ...(activation !== undefined && { activationToken: activation }),
    };
  }

  /** With a private CA the key never leaves the machine; a certificate of the user's comes with its own. */
  async #certificate(
    { claim, nodeClass, secret }: Awaited,
    request: string,
  ): Promise<Granted['tls']> {
    const { mode } = nodeClass.spec.certificate.api;
    if (mode === 'None') return undefined;
    const given = textIn(secret, 'tls.crt');
    if (mode !== 'PrivateCA') return { certificate: given, privateKey: textIn(secret, 'tls.key') };
    const key = await keyOfRequest(request).catch(explain);
    const machine = machineName(claim);
    const names = [machineNames(nodeClass.spec.dns, machine).api];
    const validity = validityOf({ claim, machine, nodeClass, names });
    const authority = await this.#parts.authorityOf(nodeClass);
    return { certificate: await authority.certify({ names, validity }, key) };
  }

  async #burn({ metadata }: Live<Secret>, certificate: string | undefined): Promise<void> {
    const { client, clock } = this.#parts.context;
    const { namespace = '', name, resourceVersion } = metadata;
    const used = `${clock.stamp()} ${randomUUID()}`;
    const data = {
      [secretKeys.used]: base64(used),
      ...(certificate !== undefined && { 'tls.crt': base64(certificate) }),
    };
    const body = { metadata: { resourceVersion }, data };
    try {
      await client.patch(secrets, { namespace, name }, { type: 'merge', body });
    } catch (error) {
      if (!isConflict(error)) throw error;
      const now = await readSecret(client, { namespace, name });
      if (now && textIn(now, secretKeys.used) === used) return; // ours, sent again since its answer was lost
      if (now) refuseUsed(now);
      throw new TooEarly('the Secret of the machine was changed by somebody', { cause: error });
    }
  }

  #tell(claim: Live<NodeClaim>, refused: BootstrapRefused): void {
    this.#parts.context.recorder.record(refusedCall(claim, refused));
  }
}

function absent(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
  return undefined;
}

function refuseUsed(secret: Secret): void {
  const [at = ''] = textIn(secret, secretKeys.used).split(' ');
  if (at !== '') throw new BootstrapRefused('replay', `the token has served at ${at}`);
}

function accountOf({ spec }: ResolvedNodeClass): string | undefined {
  if (spec.gcp) return spec.gcp.project;
  return /^arn:aws[a-z-]*:iam::([0-9]{12}):/.exec(spec.aws?.assumeRoleARN ?? '')?.[1];
}

function explain(error: unknown): never {
  if (!(error instanceof InvalidRequest)) throw error;
  const message = `the certificate request: ${error.message}`;
  throw new BootstrapRefused('request', message, { cause: error });
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}
