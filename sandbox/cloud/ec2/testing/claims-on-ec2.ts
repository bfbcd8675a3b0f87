import { ClaimWorld, revisionName } from '#controller/testing/claim-world.ts';
import { nodeClassSpec } from '#controller/testing/objects.ts';
import { AwsCloud } from '#machine/cloud/aws/aws-cloud.ts';
import { Ec2ClientPool } from '#machine/cloud/aws/clients.ts';
import { controllerRevisions } from '#schemas/kubernetes/resource.ts';
import type { ResolvedNodeClass, UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';
import { hours, seconds } from '#schemas/time/clock.ts';

import { Ec2 } from '../ec2.ts';

/**
 * NodeClaims in a cluster in memory, whose machines are instances of the EC2 endpoint: the real adapter and the real
 * SDK are between them, so that what is tested is what goes over the wire. No platform answers on the instances, so a
 * claim gets as far as InstanceRunning. Time stands still until a test moves it.
 */
export class ClaimsOnEc2 {
  readonly claims: ClaimWorld;
  readonly ec2: Ec2;
  readonly cloud: AwsCloud;
  readonly #clients: Ec2ClientPool;

  private constructor(claims: ClaimWorld, ec2: Ec2, clients: Ec2ClientPool) {
    this.claims = claims;
    this.ec2 = ec2;
    this.#clients = clients;
    this.cloud = new AwsCloud({ clock: claims.clock, clients });
  }

  /**
   * @param setEnvironment  how the SDK learns where the endpoint is and by which credentials: `vi.stubEnv`
   * @param maxAttempts  of one SDK call; by default one, since the SDK's pauses are in real time
   * @param paced  turns of calls, and pauses while nobody answers, go by the world's clock
   */
  static async start(
    setEnvironment: (name: string, value: string) => unknown,
    { maxAttempts = 1, paced = false }: { maxAttempts?: number; paced?: boolean } = {},
  ): Promise<ClaimsOnEc2> {
    const claims = await ClaimWorld.make();
    const { clock } = claims;
    const timings = {
      running: seconds(2),
      terminating: seconds(3),
      invisible: seconds(1),
      listed: hours(1),
    };
    let addresses = 0;
    const place = () => `127.64.0.${++addresses}`;
    const hardware = { place, powerOn: () => {}, powerOff: () => {} };
    const ec2 = new Ec2({ clock, timings, hardware });
    await ec2.start();
    setEnvironment('AWS_ENDPOINT_URL_EC2', ec2.url);
    setEnvironment('AWS_ACCESS_KEY_ID', 'sandbox');
    setEnvironment('AWS_SECRET_ACCESS_KEY', 'sandbox');
    const pool = new Ec2ClientPool({ maxAttempts, ...(paced && { clock }) });
    const made = new ClaimsOnEc2(claims, ec2, pool);
    claims.useCloud(made.cloud);
    await made.resolve();
    return made;
  }

  /** Looks the node class up in the account and stores what was found as the revision that claims are made from. */
  async resolve(change: Partial<UnikraftNodeClassSpec> = {}): Promise<ResolvedNodeClass> {
    const full = nodeClassSpec();
    const terms = [{ tags: { 'karpenter.sh/discovery': 'sandbox' } }];
    const aws = { ...full.aws!, subnetSelectorTerms: terms, securityGroupSelectorTerms: terms };
    const image = { selectorTerms: [{ name: 'unikraft-platform-*', owner: '123456789012' }] };
    const spec = { ...full, aws, image, ...change };
    const placement = await this.cloud.resolve(spec, new AbortController().signal);
    const data = { nodeClass: 'default', spec, ...placement, dnsZoneID: 'Z1' };
    const { client, namespace } = this.claims;
    const metadata = { name: revisionName, namespace };
    client.seed(controllerRevisions, { metadata, revision: 1, data });
    this.claims.restart();
    return data;
  }

  async stop(): Promise<void> {
    this.#clients.close();
    await this.ec2.stop();
  }
}
