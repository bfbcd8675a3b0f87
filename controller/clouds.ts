import type { Logger } from '#kube/log.ts';
import type { CloudFacts } from '#machine/cloud/cloud-facts.ts';
import type { CloudProvider } from '#machine/cloud/provider.ts';
import type { DnsProvider } from '#machine/dns/provider.ts';
import type { Token } from '#machine/gcp/rest.ts';
import { placeOf } from '#schemas/nodeclass/place.ts';
import type { UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';
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
}

/** The real ones. */
export class LazyClouds implements Clouds {
  readonly #parts: LazyCloudsParts;
  #aws: Promise<CloudProvider> | undefined;
  #gcp: Promise<CloudProvider> | undefined;
  #googleToken: Promise<Token> | undefined;
  /** By service and role or project. */
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
    const isGoogle = spec.dns.provider === 'CloudDNS';
    const owner = isGoogle ? dnsProjectOf(spec) : (spec.aws?.assumeRoleARN ?? '');
    const key = `${spec.dns.provider} ${owner}`;
    const provider =
      this.#dns.get(key) ?? (isGoogle ? this.#loadCloudDns(owner) : this.#loadRoute53(owner));
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
    const [{ GcpCloud }, { ComputeApi }, token] = await Promise.all([
      import('#machine/cloud/gcp/gcp-cloud.ts'),
      import('#machine/cloud/gcp/api.ts'),
      this.#token(),
    ]);
    const { clock, facts } = this.#parts;
    return new GcpCloud({ clock, facts, api: new ComputeApi(token) });
  }

  async #loadRoute53(assumeRoleARN: string): Promise<DnsProvider> {
    const [{ Route53Dns }, { route53Client }] = await Promise.all([
      import('#machine/dns/route53/route53-dns.ts'),
      import('#machine/dns/route53/client.ts'),
    ]);
    const client = route53Client(assumeRoleARN === '' ? {} : { assumeRoleARN });
    return new Route53Dns({ clock: this.#parts.clock, client });
  }

  async #loadCloudDns(project: string): Promise<DnsProvider> {
    const [{ CloudDns }, { CloudDnsApi }, token] = await Promise.all([
      import('#machine/dns/clouddns/cloud-dns.ts'),
      import('#machine/dns/clouddns/api.ts'),
      this.#token(),
    ]);
    return new CloudDns({ clock: this.#parts.clock, api: new CloudDnsApi(token), project });
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
