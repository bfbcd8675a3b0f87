import type { Logger } from '#kube/log.ts';
import type { AwsRole } from '#machine/aws/role.ts';
import type { CloudFacts } from '#machine/cloud/cloud-facts.ts';
import type { CloudProvider } from '#machine/cloud/provider.ts';
import { noDns } from '#machine/dns/no-dns.ts';
import type { DnsProvider } from '#machine/dns/provider.ts';
import type { ServerAddress } from '#machine/dns/rfc2136/exchange.ts';
import type { TsigKey } from '#machine/dns/rfc2136/tsig.ts';
import type { Token } from '#machine/gcp/rest.ts';
import { placeOf } from '#schemas/nodeclass/place.ts';
import type { TsigSpec, UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';
import type { Clock } from '#schemas/time/clock.ts';

/**
 * The clouds and DNS services that node classes ask for. An SDK is loaded when the first node class needs it, and
 * one adapter serves all node classes of a connection, so its caches and batches are shared.
 */
export interface Clouds {
  /** @throws when the spec names no cloud, which validation keeps from getting this far */
  for(spec: UnikraftNodeClassSpec): Promise<CloudProvider>;
  dns(spec: UnikraftNodeClassSpec): Promise<DnsProvider>;
}

export interface LazyCloudsParts {
  readonly clock: Clock;
  readonly facts: CloudFacts;
  readonly log: Logger;
  /** Reads the key of a class that has one, each time anew. */
  readonly tsigKey: (tsig: TsigSpec) => Promise<TsigKey>;
  /** Names by objects of the cluster; one serves all classes. */
  readonly externalDns: DnsProvider;
}

/** The real ones. */
export class LazyClouds implements Clouds {
  readonly #parts: LazyCloudsParts;
  #aws: Promise<CloudProvider> | undefined;
  #gcp: Promise<CloudProvider> | undefined;
  #googleToken: Promise<Token> | undefined;
  /** By service and role, project, or server and key. */
  readonly #dns = new Map<string, Promise<DnsProvider>>();

  constructor(parts: LazyCloudsParts) {
    this.#parts = parts;
  }

  async for(spec: UnikraftNodeClassSpec): Promise<CloudProvider> {
    switch (placeOf(spec)?.cloud) {
      case 'aws':
        this.#aws ??= this.#loadAws();
        return this.#aws;
      case 'gcp':
        this.#gcp ??= this.#loadGcp();
        return this.#gcp;
      case undefined:
        throw new Error('the node class names no cloud: spec.aws and spec.gcp are missing');
    }
  }

  /** Route 53 goes by the cloud's own role, and Cloud DNS by its project: zone and machines have one owner. */
  async dns(spec: UnikraftNodeClassSpec): Promise<DnsProvider> {
    switch (spec.dns.provider) {
      case 'Route53': {
        const { assumeRoleARN, assumeRoleExternalID } = spec.aws ?? {};
        const role = { assumeRoleARN, assumeRoleExternalID };
        return this.#shared(`Route53 ${JSON.stringify(role)}`, async () => this.#loadRoute53(role));
      }
      case 'CloudDNS': {
        const project = dnsProjectOf(spec);
        return this.#shared(`CloudDNS ${project}`, async () => this.#loadCloudDns(project));
      }
      case 'RFC2136': {
        const place = updatesOf(spec);
        return this.#shared(JSON.stringify(place), async () => this.#loadRfc2136(place));
      }
      case 'ExternalDNS':
        return this.#parts.externalDns;
      case 'None':
        return noDns;
    }
  }

  async #shared(key: string, load: () => Promise<DnsProvider>): Promise<DnsProvider> {
    const provider = this.#dns.get(key) ?? load();
    this.#dns.set(key, provider);
    return provider;
  }

  async #loadAws(): Promise<CloudProvider> {
    const [{ AwsCloud }, { Ec2ClientPool }] = await Promise.all([
      import('#machine/cloud/aws/aws-cloud.ts'),
      import('#machine/cloud/aws/clients.ts'),
    ]);
    const { clock, facts, log } = this.#parts;
    const onStandIn = (why: Error): void =>
      log.warn({ err: why }, 'the cloud does not say what it sells; recorded sizes stand in');
    return new AwsCloud({ clock, facts, onStandIn, clients: new Ec2ClientPool({ clock }) });
  }

  async #loadGcp(): Promise<CloudProvider> {
    const [{ GcpCloud }, { ComputeApi }, { IamApi }, token] = await Promise.all([
      import('#machine/cloud/gcp/gcp-cloud.ts'),
      import('#machine/cloud/gcp/api.ts'),
      import('#machine/gcp/iam.ts'),
      this.#token(),
    ]);
    const { clock, facts } = this.#parts;
    return new GcpCloud({
      clock,
      facts,
      api: new ComputeApi(token, undefined, clock),
      iam: new IamApi(token),
    });
  }

  async #loadRoute53(role: AwsRole): Promise<DnsProvider> {
    const [{ Route53Dns }, { route53Client }] = await Promise.all([
      import('#machine/dns/route53/route53-dns.ts'),
      import('#machine/dns/route53/client.ts'),
    ]);
    return new Route53Dns({ clock: this.#parts.clock, client: route53Client(role) });
  }

  async #loadCloudDns(project: string): Promise<DnsProvider> {
    const [{ CloudDns }, { CloudDnsApi }, token] = await Promise.all([
      import('#machine/dns/clouddns/cloud-dns.ts'),
      import('#machine/dns/clouddns/api.ts'),
      this.#token(),
    ]);
    const { clock } = this.#parts;
    return new CloudDns({ clock, api: new CloudDnsApi(token, undefined, clock), project });
  }

  async #loadRfc2136({ address, tsig }: ReturnType<typeof updatesOf>): Promise<DnsProvider> {
    const { Rfc2136Dns } = await import('#machine/dns/rfc2136/rfc2136-dns.ts');
    const { clock, tsigKey } = this.#parts;
    return new Rfc2136Dns({ address, key: async () => tsigKey(tsig), clock });
  }

  /** One identity for all of Google: its token is kept in one place. */
  async #token(): Promise<Token> {
    this.#googleToken ??= import('#machine/gcp/rest.ts').then(({ applicationDefaultToken }) =>
      applicationDefaultToken(),
    );
    return this.#googleToken;
  }
}

/** @throws for a spec that names none, which validation keeps from getting this far */
function dnsProjectOf({ dns, gcp }: UnikraftNodeClassSpec): string {
  const project = dns.project ?? gcp?.project;
  if (project === undefined) throw new Error('the node class names no project for its DNS zone');
  return project;
}

/** @throws for a spec without server or key, which validation keeps from getting this far */
function updatesOf({ dns: { server, port = 53, tsig } }: UnikraftNodeClassSpec): {
  address: ServerAddress;
  tsig: TsigSpec;
} {
  if (server === undefined || tsig === undefined)
    throw new Error('the node class names no server or key for dynamic updates');
  return { address: { server, port }, tsig };
}
