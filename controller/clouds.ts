import type { Logger } from '#kube/log.ts';
import type { CloudFacts } from '#machine/cloud/cloud-facts.ts';
import type { CloudProvider } from '#machine/cloud/provider.ts';
import type { DnsProvider } from '#machine/dns/provider.ts';
import type { AwsSpec, UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';
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
  /** By role, empty for the operator's own. */
  readonly #route53 = new Map<string, Promise<DnsProvider>>();

  constructor(parts: LazyCloudsParts) {
    this.#parts = parts;
  }

  async for(spec: UnikraftNodeClassSpec): Promise<CloudProvider> {
    awsOf(spec);
    this.#aws ??= this.#loadAws();
    return this.#aws;
  }

  /** DNS goes by the cloud's own role: the zone and the machines have one owner. */
  async dns(spec: UnikraftNodeClassSpec): Promise<DnsProvider> {
    const { assumeRoleARN = '' } = awsOf(spec);
    const provider = this.#route53.get(assumeRoleARN) ?? this.#loadRoute53(assumeRoleARN);
    this.#route53.set(assumeRoleARN, provider);
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

  async #loadRoute53(assumeRoleARN: string): Promise<DnsProvider> {
    const [{ Route53Dns }, { route53Client }] = await Promise.all([
      import('#machine/dns/route53/route53-dns.ts'),
      import('#machine/dns/route53/client.ts'),
    ]);
    const client = route53Client(assumeRoleARN === '' ? {} : { assumeRoleARN });
    return new Route53Dns({ clock: this.#parts.clock, client });
  }
}

function awsOf({ aws }: UnikraftNodeClassSpec): AwsSpec {
  if (!aws) throw new Error('the node class names no cloud: spec.aws is missing');
  return aws;
}
