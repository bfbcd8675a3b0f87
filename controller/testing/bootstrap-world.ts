import type { EventNote } from '#kube/runtime/events.ts';
import { CloudIdentities } from '#machine/bootstrap/cloud-identity.ts';
import { audienceOf } from '#machine/bootstrap/unproven.ts';
import { awsPayload, TokenIssuer } from '#machine/testing/token-issuer.ts';
import { Authority } from '#pki/authority.ts';
import { newRequest, type Asked } from '#pki/testing/requests.ts';
import { nodeClaims, type NodeClaim } from '#schemas/karpenter/types.ts';
import type { Secret } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { controllerRevisions, secrets } from '#schemas/kubernetes/resource.ts';
import { annotations } from '#schemas/names.ts';
import type { ResolvedNodeClass, UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';
import { hours } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { Callback, type Call } from '../bootstrap/callback.ts';
import { BootstrapKeys } from '../bootstrap/keys.ts';
import { Tickets } from '../bootstrap/tickets.ts';
import type { Context } from '../context.ts';
import { credentialsKey, CredentialStore } from '../nodeclaim/machine/credentials.ts';
import { ClaimInHand } from '../nodeclaim/steps/claim-in-hand.ts';
import { Revisions } from '../nodeclass/revisions.ts';
import { textIn } from '../read-secret.ts';
import { certificatesOf } from './certificates.ts';
import { memoryContext } from './context.ts';
import type { MemoryClient } from './memory-client.ts';
import { nodeClaim, nodeClassSpec } from './objects.ts';

const account = '123456789012';
const region = 'eu-central-1';

/** Where machines call. */
export const bootstrapUrl = 'https://bootstrap.example.com:8443';

/** A cluster in memory, whose machines on AWS call for their secrets, and a cloud that vouches for them. */
export class BootstrapWorld {
  readonly client: MemoryClient;
  readonly clock: FakeClock;
  readonly notes: EventNote[];
  readonly context: Context;
  readonly authority: Authority;
  readonly issuer: TokenIssuer;
  readonly store: CredentialStore;
  readonly #nodeClass: ResolvedNodeClass;

  private constructor(
    issuer: TokenIssuer,
    authority: Authority,
    { clock, spec }: { clock: FakeClock; spec: UnikraftNodeClassSpec },
  ) {
    const { client, notes, context } = memoryContext({ clock });
    this.client = client;
    this.clock = clock;
    this.notes = notes;
    this.context = context;
    this.issuer = issuer;
    this.authority = authority;
    this.store = this.#newStore();
    this.#nodeClass = {
      nodeClass: 'default',
      spec,
      image: { id: 'ami-1', architecture: 'amd64', rootDeviceName: '/dev/xvda' },
      subnets: [],
      securityGroups: [],
      dnsZoneID: 'Z1',
    };
    const { namespace } = this.context;
    const metadata = { name: 'default-r1', namespace };
    this.client.seed(controllerRevisions, { metadata, revision: 1, data: this.#nodeClass });
  }

  /**
   * @param issuer  stopped by the test
   * @param spec  changes to a class whose machines call
   * @param clock  one that knows the real time, where TLS is to believe certificates
   */
  static async make(
    issuer: TokenIssuer,
    spec: Partial<UnikraftNodeClassSpec> = {},
    clock = new FakeClock(),
  ): Promise<BootstrapWorld> {
    const options = { commonName: 'machines', validity: hours(24 * 365) };
    const bootstrap = { mode: 'Callback', callback: { url: bootstrapUrl } } as const;
    const authority = await Authority.create(clock, options);
    const full = nodeClassSpec({ bootstrap, ...spec });
    return new BootstrapWorld(issuer, authority, { clock, spec: full });
  }

  /** As another process has it: nothing is remembered. */
  newCallback(): Callback {
    const { context } = this;
    const trust = { awsIssuers: [this.issuer.url], googleKeys: this.issuer.url };
    return new Callback({
      context,
      tickets: this.newTickets(),
      revisions: new Revisions(context),
      identities: new CloudIdentities(trust),
      authorityOf: async () => this.authority,
    });
  }

  newTickets(): Tickets {
    const { client, namespace, clock, clusterUid } = this.context;
    return new Tickets(new BootstrapKeys(client, namespace, clock), clusterUid, clock);
  }

  /** A claim with its credentials, whose instance runs. */
  async launched(name = 'web-1'): Promise<Live<NodeClaim>> {
    const claim = await this.announced(name);
    const status = { providerID: `unikraft://aws/${region}/${region}a/${instanceOf(name)}` };
    return this.client.seed(nodeClaims, { ...claim, status });
  }

  /** … of which nobody has written down yet that it is there. */
  async announced(name = 'web-1'): Promise<Live<NodeClaim>> {
    const stamped = nodeClaim(name);
    const metadata = { ...stamped.metadata, annotations: { [annotations.revision]: 'default-r1' } };
    const claim = this.client.seed(nodeClaims, { ...stamped, metadata });
    const hand = new ClaimInHand(claim, undefined, this.context.clusterUid, this.clock);
    const { signal } = new AbortController();
    await this.store.ensure(hand, this.#nodeClass, `api.${name}.machines.example.com`, signal);
    return claim;
  }

  hand(claim: Live<NodeClaim>): ClaimInHand {
    return new ClaimInHand(claim, undefined, this.context.clusterUid, this.clock);
  }

  secretOf(claim: Live<NodeClaim>): Live<Secret> {
    const secret = this.client.peek(secrets, credentialsKey(this.context.namespace, claim));
    if (!secret) throw new Error(`${claim.metadata.name} has no credentials`);
    return secret;
  }

  /** What the machine of a claim shows, when all is right. */
  async callOf(claim: Live<NodeClaim>, asked?: Asked): Promise<Call> {
    const { request } = asked ?? (await newRequest());
    const token = textIn(this.secretOf(claim), 'bootstrap-token');
    return { token, request, identity: this.identityOf(claim) };
  }

  /** The cloud's word on an instance, for a claim; by default its own. */
  identityOf({ metadata }: Live<NodeClaim>, instance = instanceOf(metadata.name)): string {
    const said = { account, region, instance };
    return this.issuer.sign(awsPayload(this.issuer.url, audienceOf(metadata.uid), said), {
      issuedAt: new Date(this.clock.stamp()),
    });
  }

  #newStore(): CredentialStore {
    return new CredentialStore(
      this.context,
      certificatesOf(this.context, this.authority),
      this.newTickets(),
    );
  }
}

/** As EC2 writes them: hexadecimal. */
function instanceOf(name: string): string {
  return `i-${Buffer.from(name).toString('hex')}`;
}
