import { randomBytes } from 'node:crypto';

import type { KubeClient } from '#kube/client/client.ts';
import { isAlreadyExists, isNotFound } from '#kube/client/errors.ts';
import { CreateError } from '#machine/errors.ts';
import type { Authority } from '#pki/authority.ts';
import { nodeClaims } from '#schemas/karpenter/types.ts';
import type { Secret } from '#schemas/kubernetes/core.ts';
import { apiVersionOf, secrets, type Key } from '#schemas/kubernetes/resource.ts';
import { labels } from '#schemas/names.ts';
import type { ResolvedNodeClass } from '#schemas/nodeclass/types.ts';
import { hours, type Duration } from '#schemas/time/clock.ts';
import { parseDuration } from '#schemas/time/duration.ts';

import type { ClaimInHand } from './claim-in-hand.ts';
import { OneByOne } from './one-by-one.ts';

/** What one machine and those who talk to it share; fixed for its whole life, since user data is. */
export interface MachineCredentials {
  readonly token: string;
  readonly certificate: string;
  readonly privateKey: string;
  readonly ca: string;
}

/** A machine that is being drained at its expiry still needs its certificate. */
const margin: Duration = hours(24);

/** Finds the authority of a node class; throws NodeClassError when its Secret is missing or broken. */
export type AuthorityOf = (nodeClass: ResolvedNodeClass, signal: AbortSignal) => Promise<Authority>;

/**
 * One Secret per machine in the operator's namespace. It is made before the instance and never changed: a second
 * token or key would change the user data, and with it the meaning of the launch's client token.
 */
export class CredentialStore {
  readonly #client: KubeClient;
  readonly #namespace: string;
  readonly #authorityOf: AuthorityOf;
  /** Secrets are not watched, so what was read once is kept as long as the claim is in work. */
  readonly #known = new Map<string, MachineCredentials>();
  readonly #leaves = new OneByOne();
  /** By node class, while it is read. */
  readonly #asked = new Map<string, Promise<Authority>>();

  constructor(client: KubeClient, namespace: string, authorityOf: AuthorityOf) {
    this.#client = client;
    this.#namespace = namespace;
    this.#authorityOf = authorityOf;
  }

  /** Undefined when they were never made, or are gone. */
  async get(hand: ClaimInHand): Promise<MachineCredentials | undefined> {
    const { claimUid } = hand.identity;
    const known = this.#known.get(claimUid);
    if (known) return known;
    const secret = await this.#read(hand);
    return secret && this.#keep(claimUid, secret);
  }

  /** Makes them, or returns those that are there. `fqdn` is the leaf's only name. */
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
    const authority = await this.#authority(nodeClass, signal);
    const leaf = await this.#leaves.do(async () =>
      authority.issue({ names: [fqdn], validity: validityOf(hand, nodeClass) }),
    );
    const secret = this.#secret(hand, {
      token: randomBytes(32).toString('base64url'),
      'tls.crt': leaf.certificate,
      'tls.key': leaf.privateKey,
      'ca.crt': authority.pem.certificate,
    });
    const made = await this.#client.create(secrets, secret).catch(async (error: unknown) => {
      const earlier = isAlreadyExists(error) ? await this.#read(hand) : undefined;
      if (!earlier) throw error;
      return earlier;
    });
    return this.#keep(hand.identity.claimUid, made);
  }

  /** Claims of a burst that ask while it is read share the answer, and the milliseconds that it takes to check it. */
  async #authority(nodeClass: ResolvedNodeClass, signal: AbortSignal): Promise<Authority> {
    const key = JSON.stringify([nodeClass.nodeClass, nodeClass.spec.certificate]);
    const asked = this.#asked.get(key) ?? this.#authorityOf(nodeClass, signal);
    this.#asked.set(key, asked);
    return asked.finally(() => this.#asked.delete(key));
  }

  /** Those of another machine that has the name are left alone. */
  async remove(hand: ClaimInHand): Promise<void> {
    const secret = await this.#client.get(secrets, this.#key(hand)).catch(absent);
    if (secret && isOf(secret, hand)) {
      const { uid } = secret.metadata;
      await this.#client.delete(secrets, this.#key(hand), { uid }).catch(absent);
    }
    this.#known.delete(hand.identity.claimUid);
  }

  /** @throws CreateError for one that is another machine's: names are short, so two in a great many are alike */
  async #read(hand: ClaimInHand): Promise<Secret | undefined> {
    const key = this.#key(hand);
    const secret = await this.#client.get(secrets, key).catch(absent);
    if (!secret || isOf(secret, hand)) return secret;
    const message = `Secret ${key.namespace}/${key.name} was not made for this machine`;
    throw new CreateError('MachineNameTaken', message, 'slow');
  }

  #keep(claimUid: string, secret: Secret): MachineCredentials {
    const read = (name: string): string =>
      Buffer.from(secret.data?.[name] ?? '', 'base64').toString('utf8');
    const credentials = {
      token: read('token'),
      certificate: read('tls.crt'),
      privateKey: read('tls.key'),
      ca: read('ca.crt'),
    };
    this.#known.set(claimUid, credentials);
    return credentials;
  }

  #key({ identity }: ClaimInHand): Key {
    return { namespace: this.#namespace, name: `${identity.name}-credentials` };
  }

  #secret(hand: ClaimInHand, stringData: Record<string, string>): Secret {
    const { identity, claim } = hand;
    return {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        ...this.#key(hand),
        labels: { [labels.claimUid]: identity.claimUid, [labels.nodeClass]: identity.nodeClass },
        ownerReferences: [
          {
            apiVersion: apiVersionOf(nodeClaims),
            kind: nodeClaims.kind,
            name: claim.metadata.name,
            uid: claim.metadata.uid,
          },
        ],
      },
      type: 'Opaque',
      immutable: true,
      data: Object.fromEntries(
        Object.entries(stringData).map(([name, text]) => [
          name,
          Buffer.from(text).toString('base64'),
        ]),
      ),
    };
  }
}

/**
 * As long as the machine may live and a day to leave, or what the class says; for ever means: as long as the
 * authority itself, since an outage at the end of a leaf would be worse than a key that lives as long as its machine.
 */
function validityOf(hand: ClaimInHand, { spec }: ResolvedNodeClass): Duration {
  const own = spec.certificate.api.duration;
  return own === undefined
    ? parseDuration(hand.claim.spec.expireAfter ?? 'Never') + margin
    : parseDuration(own);
}

function isOf({ metadata }: Secret, { identity }: ClaimInHand): boolean {
  return metadata?.labels?.[labels.claimUid] === identity.claimUid;
}

function absent(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
  return undefined;
}
