import { ClaimWorld, revisionName } from '#controller/testing/claim-world.ts';
import { ourRef } from '#controller/testing/objects.ts';
import { controllerRevisions } from '#schemas/kubernetes/resource.ts';
import { labels } from '#schemas/names.ts';
import type { GcpSpec } from '#schemas/nodeclass/types.ts';
import { seconds } from '#schemas/time/clock.ts';

import { World } from './world.ts';

/**
 * NodeClaims in a cluster in memory, whose machines are instances of the Compute Engine endpoint, as ClaimsOnEc2 has
 * them on EC2. No platform answers on the instances, so a claim gets as far as InstanceRunning.
 */
export class ClaimsOnGce extends World {
  readonly claims: ClaimWorld;

  private constructor(claims: ClaimWorld) {
    super(claims.clock);
    this.claims = claims;
  }

  static async open(): Promise<ClaimsOnGce> {
    const made = new ClaimsOnGce(await ClaimWorld.make());
    await made.start();
    await made.store();
    return made;
  }

  /** Stores what the class resolves to as the revision that claims are made from. */
  async store(gcp: Partial<GcpSpec> = {}): Promise<void> {
    this.nodeClass = await this.resolve(gcp);
    const { client, namespace } = this.claims;
    const metadata = { name: revisionName, namespace };
    const data = { ...this.nodeClass, dnsZoneID: 'Z1' };
    client.seed(controllerRevisions, { metadata, revision: 1, data });
    this.claims.useCloud(this.cloud);
  }

  /** Claims for a size in these zones, in the order of the zones' names, each with an instance that has run for two minutes. */
  async running(count: number, instanceType = 'n2-standard-8'): Promise<void> {
    const names = Array.from({ length: count }, (_, index) => `web-${index + 1}`);
    await Promise.all(names.map(async (name) => this.claimFor(instanceType, name)));
    await this.claims.until(() =>
      names.every((name) => this.claims.condition('InstanceRunning', name)?.status === 'True'),
    );
    await this.clock.forward(seconds(120));
  }

  async claimFor(instanceType: string, name = 'web-1', zones?: readonly string[]): Promise<void> {
    const requirements = [
      { key: labels.instanceType, operator: 'In' as const, values: [instanceType] },
      ...(zones ? [{ key: labels.zone, operator: 'In' as const, values: [...zones] }] : []),
    ];
    await this.claims.claim({ spec: { nodeClassRef: ourRef, requirements } }, name);
  }
}
