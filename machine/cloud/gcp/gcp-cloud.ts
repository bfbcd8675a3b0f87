import type { Price, RegionPrices } from '#schemas/instances/data/region-prices.ts';
import type { MachineType, Offering } from '#schemas/instances/instance-type.ts';
import { tags } from '#schemas/names.ts';
import type { ResolvedNodeClass, UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';
import type { GcpSpec } from '#schemas/nodeclass/types.ts';
import type { Clock } from '#schemas/time/clock.ts';

import type { NodeClassError } from '../../errors.ts';
import type { IamApi } from '../../gcp/iam.ts';
import type { Instance, MachineIdentity, InstanceToEnd } from '../../machine.ts';
import { CloudFacts, type RegionSizes } from '../cloud-facts.ts';
import type {
  CloudProvider,
  InstanceCare,
  InstanceParts,
  LaunchRequest,
  ResolvedPlacement,
  SizeOnSale,
} from '../provider.ts';
import type { ComputeApi } from './api.ts';
import { GceCare } from './care.ts';
import { GceDisks } from './disks.ts';
import { Ending } from './ending.ts';
import { failed } from './errors.ts';
import { Finding } from './finding.ts';
import { Launching } from './launching.ts';
import { MachineTypes } from './machine-types.ts';
import { Operations } from './operations.ts';
import { rehearse } from './rehearsal.ts';
import { resolvePlacement } from './resolve.ts';
import { Shortages } from './shortages.ts';
import { Sightings } from './sightings.ts';
import { gcpOf } from './spec.ts';
import { Unmade } from './unmade.ts';

export interface GcpCloudParts {
  readonly clock: Clock;
  readonly api: ComputeApi;
  readonly iam: IamApi;
  /** Prices: the API has none. */
  readonly facts?: CloudFacts;
}

/**
 * Machines on Compute Engine: one instance per insert, under a name that its claim decides, found again by that name
 * and by its labels.
 *
 * An insert is only taken note of at first; its operation tells later whether there was room. So a launch that is
 * under way says so ({@link LaunchUnderWay}) and is asked for again.
 */
export class GcpCloud implements CloudProvider {
  readonly name = 'gcp';
  readonly care: InstanceCare;
  readonly parts: InstanceParts;
  readonly #api: ComputeApi;
  readonly #iam: IamApi;
  readonly #facts: CloudFacts;
  readonly #shortages: Shortages;
  readonly #types: MachineTypes;
  readonly #sightings: Sightings;
  readonly #finding: Finding;
  readonly #launching: Launching;
  readonly #ending: Ending;

  constructor({ clock, api, iam, facts = new CloudFacts() }: GcpCloudParts) {
    const operations = new Operations(api, clock);
    const shortages = new Shortages(clock);
    const sightings = new Sightings(api, clock);
    const unmade = new Unmade(clock);
    const ending = new Ending({ api, operations, sightings });
    this.parts = new GceDisks(api);
    this.#api = api;
    this.#iam = iam;
    this.care = new GceCare({ api, sightings });
    this.#facts = facts;
    this.#shortages = shortages;
    this.#sightings = sightings;
    this.#types = new MachineTypes(api, clock);
    this.#ending = ending;
    this.#finding = new Finding({ api, operations, sightings, unmade });
    this.#launching = new Launching({ api, operations, sightings, shortages, ending, unmade });
  }

  async resolve(spec: UnikraftNodeClassSpec, signal: AbortSignal): Promise<ResolvedPlacement> {
    return resolvePlacement(this.#api, spec, gcpOf(spec), signal);
  }

  /** Asks Google which of the permissions that a launch needs the operator has. */
  async rehearse(
    nodeClass: ResolvedNodeClass,
    _: string,
    signal: AbortSignal,
  ): Promise<NodeClassError | undefined> {
    const apis = { compute: this.#api, iam: this.#iam };
    return rehearse(apis, nodeClass, gcpOf(nodeClass.spec), signal);
  }

  async sizes(nodeClass: ResolvedNodeClass, signal: AbortSignal): Promise<readonly SizeOnSale[]> {
    const gcp = gcpOf(nodeClass.spec);
    const zones = nodeClass.subnets.map(({ zone }) => zone);
    const [sizes, prices] = await Promise.all([
      this.#types.of(gcp, zones, signal),
      this.#facts.prices('gcp', gcp.region),
    ]);
    return sizes.types
      .filter(({ architecture }) => architecture === nodeClass.image.architecture)
      .map((type) => ({ type, offerings: this.#offerings(type, { sizes, prices }, nodeClass) }));
  }

  async subnets({ spec, subnets }: ResolvedNodeClass): Promise<ResolvedNodeClass['subnets']> {
    const { project } = gcpOf(spec);
    return subnets.filter(({ id }) => this.#shortages.hasAddresses({ project, subnet: id }));
  }

  async launch(request: LaunchRequest, signal: AbortSignal): Promise<Instance> {
    return this.#launching.launch(request, gcpOf(request.nodeClass.spec), signal);
  }

  async find(
    nodeClass: ResolvedNodeClass,
    identity: MachineIdentity,
    signal: AbortSignal,
  ): Promise<readonly Instance[]> {
    return this.#finding.find(nodeClass, gcpOf(nodeClass.spec), identity, signal);
  }

  async snapshot(
    nodeClass: ResolvedNodeClass,
    clusterUid: string,
    signal: AbortSignal,
  ): Promise<readonly Instance[]> {
    const { project, region } = gcpOf(nodeClass.spec);
    const shown = await this.#sightings.complete(project, region, clusterUid, signal);
    const instances = shown
      .map(({ instance }) => instance)
      .filter(({ tags: carried }) => carried[tags.cluster] === clusterUid);
    return Promise.all(instances.map(async (one) => this.#ending.shown(project, one, signal)));
  }

  async terminate(
    nodeClass: ResolvedNodeClass,
    instance: InstanceToEnd,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      await this.#ending.end(nodeClass, gcpOf(nodeClass.spec), instance, signal);
    } catch (error) {
      signal.throwIfAborted();
      throw failed(error, `Ending instance ${instance.id}`);
    }
  }

  #offerings(
    type: MachineType,
    { sizes, prices }: { sizes: RegionSizes; prices: RegionPrices },
    nodeClass: ResolvedNodeClass,
  ): Offering[] {
    const gcp = gcpOf(nodeClass.spec);
    const price = prices.of(type.name);
    return nodeClass.subnets
      .filter(({ zone }) => sizes.soldIn.get(zone)?.has(type.name))
      .map(({ id, zone, zoneID }) => ({
        zone,
        zoneID,
        price: price?.perHour,
        priceDerived: price !== undefined && !isSaid(price),
        available: this.#isAvailable(gcp, type.name, zone, id),
      }));
  }

  #isAvailable(
    { project, region }: GcpSpec,
    instanceType: string,
    zone: string,
    subnet: string,
  ): boolean {
    return (
      this.#shortages.isAvailable({ project, region, instanceType, zone }) &&
      this.#shortages.hasAddresses({ project, subnet })
    );
  }
}

/** By the cloud, or by whoever runs the cluster; all else follows from a rule. */
function isSaid({ basis }: Price): boolean {
  return basis === 'table' || basis === 'override';
}
