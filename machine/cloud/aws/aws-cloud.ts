import { RunInstancesCommand, TerminateInstancesCommand } from '@aws-sdk/client-ec2';

import { tags } from '#schemas/names.ts';
import type {
  AwsSpec,
  ResolvedNodeClass,
  UnikraftNodeClassSpec,
} from '#schemas/nodeclass/types.ts';
import { type Clock, seconds } from '#schemas/time/clock.ts';

import type { AwsConnection } from '../../aws/config.ts';
import { codeOf, shortageOf, toMachineError } from '../../aws/errors.ts';
import { AttemptSpent, type MachineError } from '../../errors.ts';
import type { Instance, MachineIdentity, InstanceToEnd } from '../../machine.ts';
import { until } from '../../until.ts';
import { CloudFacts } from '../cloud-facts.ts';
import type {
  CloudProvider,
  InstanceCare,
  InstanceParts,
  LaunchRequest,
  ResolvedPlacement,
  SizeOnSale,
} from '../provider.ts';
import { Shared } from '../shared.ts';
import { Ec2Care } from './care.ts';
import { connectionKey, type Ec2ClientPool, type Ec2Clients } from './clients.ts';
import { ImageParameters } from './image-parameters.ts';
import { InstanceTypes, type OnStandIn } from './instance-types.ts';
import { instanceOf, instancesTagged } from './instances.ts';
import { runInstancesInput } from './launch.ts';
import { Ec2Parts } from './parts.ts';
import { rehearse } from './rehearsal.ts';
import { resolvePlacement } from './resolve.ts';
import { SizesOnSale } from './sizes-on-sale.ts';
import { Subnets } from './subnets.ts';
import { UnavailableOfferings } from './unavailable-offerings.ts';

export interface AwsCloudParts {
  readonly clock: Clock;
  readonly clients: Pick<Ec2ClientPool, 'for'>;
  /** Prices, and sizes for when the cloud cannot say. */
  readonly facts?: CloudFacts;
  readonly onStandIn?: OnStandIn;
}

/** Machines on EC2: one on-demand instance per RunInstances call, found again by its tags. */
export class AwsCloud implements CloudProvider {
  readonly name = 'aws';
  /** What lately had no room, for metrics and explanations. */
  readonly unavailable: UnavailableOfferings;
  readonly care: InstanceCare;
  readonly parts: InstanceParts;
  readonly #clients: Pick<Ec2ClientPool, 'for'>;
  readonly #facts: CloudFacts;
  readonly #types: InstanceTypes;
  readonly #sizes: SizesOnSale;
  readonly #subnets: Subnets;
  readonly #parameters = new ImageParameters();
  readonly #snapshots: Shared<readonly Instance[]>;

  constructor(parts: AwsCloudParts) {
    const { clock, clients, facts = new CloudFacts(), onStandIn = () => {} } = parts;
    this.#clients = clients;
    this.#facts = facts;
    this.unavailable = new UnavailableOfferings(clock);
    this.#sizes = new SizesOnSale(this.unavailable);
    this.#subnets = new Subnets(this.unavailable);
    this.#types = new InstanceTypes({ clock, facts, onStandIn });
    this.#snapshots = new Shared(clock, seconds(2));
    const reach = ({ spec }: ResolvedNodeClass) => {
      const aws = awsOf(spec);
      return { clients: this.#ec2(aws), region: aws.region };
    };
    this.care = new Ec2Care(reach);
    this.parts = new Ec2Parts(reach);
  }

  async resolve(spec: UnikraftNodeClassSpec, signal: AbortSignal): Promise<ResolvedPlacement> {
    const aws = awsOf(spec);
    const account = {
      ec2: this.#ec2(aws).read,
      parameter: async (name: string) => this.#parameters.valueOf(connectionOf(aws), name),
    };
    const { placement, free } = await until(resolvePlacement(account, spec, aws), signal);
    this.#subnets.told(free);
    return placement;
  }

  async rehearse(
    nodeClass: ResolvedNodeClass,
    clusterUid: string,
    signal: AbortSignal,
  ): Promise<undefined> {
    const aws = awsOf(nodeClass.spec);
    const sizes = await this.sizes(nodeClass, signal);
    const work = rehearse(this.#ec2(aws).write, { nodeClass, aws, clusterUid, sizes });
    await until(work, signal);
    return undefined; // a dry run is judged as the launch is
  }

  async sizes(nodeClass: ResolvedNodeClass, signal: AbortSignal): Promise<readonly SizeOnSale[]> {
    const aws = awsOf(nodeClass.spec);
    const [region, prices] = await Promise.all([
      this.#types.of(connectionOf(aws), this.#ec2(aws).read, signal),
      this.#facts.prices('aws', aws.region),
    ]);
    return this.#sizes.of(
      { ...region, prices, name: aws.region, account: accountOf(aws) },
      nodeClass,
    );
  }

  async subnets({ subnets }: ResolvedNodeClass): Promise<ResolvedNodeClass['subnets']> {
    return this.#subnets.usable(subnets);
  }

  async launch(request: LaunchRequest, signal: AbortSignal): Promise<Instance> {
    const aws = awsOf(request.nodeClass.spec);
    const { instanceType, zone, subnet } = request.candidate;
    try {
      const answer = await this.#ec2(aws).write.send(
        new RunInstancesCommand(runInstancesInput(request, aws)),
        { abortSignal: signal },
      );
      const [instance] = answer.Instances ?? [];
      if (!instance) throw new Error('RunInstances answered without an instance');
      this.#subnets.took(subnet);
      return instanceOf(instance, aws.region);
    } catch (error) {
      signal.throwIfAborted();
      const known = toMachineError(error, `Starting ${instanceType} in ${zone}`);
      const shortage = shortageOf(error);
      if (shortage) {
        const place = { account: accountOf(aws), region: aws.region, instanceType, zone, subnet };
        this.unavailable.mark(shortage, place, known.message);
      }
      return this.#adopt(request, known, error, signal);
    }
  }

  async find(
    nodeClass: ResolvedNodeClass,
    identity: MachineIdentity,
    signal: AbortSignal,
  ): Promise<readonly Instance[]> {
    const aws = awsOf(nodeClass.spec);
    const ours = { [tags.cluster]: identity.clusterUid, [tags.claimUid]: identity.claimUid };
    return this.#list(aws, ours, `Looking for the instance of ${identity.name}`, signal);
  }

  async snapshot(
    nodeClass: ResolvedNodeClass,
    clusterUid: string,
    signal: AbortSignal,
  ): Promise<readonly Instance[]> {
    const aws = awsOf(nodeClass.spec);
    const key = `${connectionKey(connectionOf(aws))} ${clusterUid}`;
    // the shared call outlives any one caller
    const ask = async () =>
      this.#list(aws, { [tags.cluster]: clusterUid }, 'Listing instances', neverAborted());
    return this.#snapshots.get(key, ask, signal);
  }

  /** By its id alone, which no other instance ever has. */
  async terminate(
    nodeClass: ResolvedNodeClass,
    { id: instanceId }: InstanceToEnd,
    signal: AbortSignal,
  ): Promise<void> {
    const aws = awsOf(nodeClass.spec);
    try {
      await this.#ec2(aws).write.send(
        new TerminateInstancesCommand({ InstanceIds: [instanceId] }),
        { abortSignal: signal },
      );
    } catch (error) {
      signal.throwIfAborted();
      if (codeOf(error) === 'InvalidInstanceID.NotFound') return;
      throw toMachineError(error, `Ending instance ${instanceId}`);
    }
  }

  /**
   * A token that no longer fits belongs to an instance that an earlier call may have started: if one lives, it is
   * the machine. Every other failure is thrown on.
   */
  async #adopt(
    request: LaunchRequest,
    known: MachineError,
    error: unknown,
    signal: AbortSignal,
  ): Promise<Instance> {
    if (!(known instanceof AttemptSpent)) throw known;
    const found = await this.find(request.nodeClass, request.identity, signal);
    const living = found.find(({ state }) => state === 'pending' || state === 'running');
    if (living) return living;
    throw new AttemptSpent(known.message, { cause: error });
  }

  async #list(
    aws: AwsSpec,
    wanted: Readonly<Record<string, string>>,
    doing: string,
    signal: AbortSignal,
  ): Promise<readonly Instance[]> {
    try {
      const all = await until(instancesTagged(this.#ec2(aws).read, aws.region, wanted), signal);
      all
        .filter((instance) => !instance.runsGuests)
        .forEach((one) => this.#markUnfit(one, accountOf(aws)));
      return all;
    } catch (error) {
      signal.throwIfAborted();
      throw toMachineError(error, doing);
    }
  }

  /** Its size is not tried there again for a while; once it is marked, seeing the instance again changes nothing. */
  #markUnfit(
    { id, region, instanceType, zone, state }: Instance,
    account: string | undefined,
  ): void {
    const place = { account, region, instanceType, zone };
    if (state !== 'running' || !this.unavailable.isAvailable(place)) return;
    const why = `Instance ${id} was started without nested virtualisation`;
    this.unavailable.mark('unsupported', { ...place, subnet: '' }, why);
  }

  #ec2(aws: AwsSpec): Ec2Clients {
    return this.#clients.for(connectionOf(aws));
  }
}

function connectionOf({ region, assumeRoleARN, assumeRoleExternalID }: AwsSpec): AwsConnection {
  return { region, assumeRoleARN, assumeRoleExternalID };
}

/** Undefined for the operator's own. */
function accountOf({ assumeRoleARN = '' }: AwsSpec): string | undefined {
  return /:iam::(\d{12}):/.exec(assumeRoleARN)?.[1];
}

/** @throws Error for a class without `aws`, which the schema keeps from getting this far */
function awsOf({ aws }: UnikraftNodeClassSpec): AwsSpec {
  if (!aws) throw new Error('This node class is not for AWS: spec.aws is missing');
  return aws;
}

function neverAborted(): AbortSignal {
  return new AbortController().signal;
}
