import type { CloudProvider } from '#machine/cloud/provider.ts';
import type { DnsProvider } from '#machine/dns/provider.ts';
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

/** The real ones. */
export class LazyClouds implements Clouds {
  readonly #clock: Clock;
  #aws: Promise<CloudProvider> | undefined;
  /** By region and role. */
  readonly #route53 = new Map<string, Promise<DnsProvider>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async for(spec: UnikraftNodeClassSpec): Promise<CloudProvider> {
    connectionOf(spec);
    this.#aws ??= this.#loadAws();
    return this.#aws;
  }

  async dns(spec: UnikraftNodeClassSpec): Promise<DnsProvider> {
    const connection = connectionOf(spec);
    const key = `${connection.region} ${connection.assumeRoleARN ?? ''}`;
    const known = this.#route53.get(key) ?? this.#loadRoute53(connection);
    this.#route53.set(key, known);
    return known;
  }

  async #loadAws(): Promise<CloudProvider> {
    const [{ AwsCloud }, { Ec2ClientPool }] = await Promise.all([
      import('#machine/cloud/aws/aws-cloud.ts'),
      import('#machine/cloud/aws/clients.ts'),
    ]);
    return new AwsCloud({ clock: this.#clock, clients: new Ec2ClientPool() });
  }

  async #loadRoute53(connection: Connection): Promise<DnsProvider> {
    const [{ Route53Dns }, { route53Client }] = await Promise.all([
      import('#machine/dns/route53/route53-dns.ts'),
      import('#machine/dns/route53/client.ts'),
    ]);
    return new Route53Dns({ clock: this.#clock, client: route53Client(connection) });
  }
}

interface Connection {
  readonly region: string;
  readonly assumeRoleARN?: string;
}

/** DNS goes by the cloud's own account: the zone and the machines have one owner. */
function connectionOf({ aws }: UnikraftNodeClassSpec): Connection {
  if (!aws) throw new Error('the node class names no cloud: spec.aws is missing');
  const { region, assumeRoleARN } = aws;
  return { region, ...(assumeRoleARN !== undefined && { assumeRoleARN }) };
}
