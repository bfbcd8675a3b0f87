import type {
  CloudProvider,
  InstancePart,
  InstanceParts,
  LaunchRequest,
  SizeOnSale,
} from '#machine/cloud/provider.ts';
import {
  AttemptSpent,
  CreateError,
  InsufficientCapacity,
  OutcomeUnknown,
} from '#machine/errors.ts';
import type { Instance, MachineIdentity, InstanceToEnd } from '#machine/machine.ts';
import type { MachineType } from '#schemas/instances/instance-type.ts';
import { tags } from '#schemas/names.ts';
import type { ResolvedNodeClass } from '#schemas/nodeclass/types.ts';
import { seconds, type Clock, type Duration, type Instant } from '#schemas/time/clock.ts';

/** One instance that was made, whatever became of it. */
export interface MadeInstance {
  readonly id: string;
  readonly token: string;
  readonly request: LaunchRequest;
  readonly address: string;
  readonly madeAt: Instant;
  /** When its end was asked for, or came by itself. */
  endedAt?: Instant;
  stopped?: boolean;
}

/** What the next launch does in place of its work: fail, or do its work and lose the answer. */
export type LaunchFault = Error | 'answer lost';

const region = 'eu-central-1';
const zones = ['eu-central-1a', 'eu-central-1b'];

/**
 * A cloud that keeps its promises as EC2 does: one instance per token, states that take their time, lists that show
 * a new instance late. Faults are scripted per call.
 */
export class FakeCloud implements CloudProvider {
  readonly name = 'aws';
  /** Every instance that was ever made; a test that makes very many may forget those that have ended. */
  readonly made: MadeInstance[] = [];
  readonly launches: LaunchRequest[] = [];
  readonly launchFaults: LaunchFault[] = [];
  /** What {@link find} fails with, until it is taken away. */
  findFailure: Error | undefined;
  terminateFailure: Error | undefined;
  /** `type/zone` without room. */
  readonly full = new Set<string>();
  /** How long lists miss a new instance. */
  lateBy: Duration = 0;
  readonly parts = new FakeParts();
  types: MachineType[] = [machineType('m8i.large', 4, 16), machineType('m8i.xlarge', 8, 32)];
  readonly #refused = new Set<string>();
  #numbers = 0;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get alive(): MadeInstance[] {
    return this.made.filter((one) => this.#stateOf(one) !== 'terminated');
  }

  /** The instance of an address that answers there now. */
  at(address: string): MadeInstance | undefined {
    return this.made.find((one) => one.address === address && this.#stateOf(one) === 'running');
  }

  /** It ends without being asked to. */
  kill(instance: MadeInstance): void {
    instance.endedAt = this.#clock.now() - seconds(10);
  }

  async resolve(): Promise<never> {
    throw new Error('this fake resolves nothing');
  }

  async sizes(): Promise<readonly SizeOnSale[]> {
    return this.types.map((type) => ({
      type,
      offerings: zones.map((zone) => ({
        zone,
        zoneID: `id-of-${zone}`,
        price: type.vcpus / 10,
        priceDerived: false,
        available: !this.#refused.has(`${type.name}/${zone}`),
      })),
    }));
  }

  async subnets({ subnets }: ResolvedNodeClass): Promise<ResolvedNodeClass['subnets']> {
    return subnets;
  }

  async launch(request: LaunchRequest): Promise<Instance> {
    this.launches.push(request);
    const fault = this.launchFaults.shift();
    if (fault instanceof Error) throw fault;
    const instance = this.#launched(request);
    if (fault !== undefined) throw new OutcomeUnknown('socket hang up');
    return this.#view(instance);
  }

  async find(_: ResolvedNodeClass, { claimUid }: MachineIdentity): Promise<readonly Instance[]> {
    if (this.findFailure) throw this.findFailure;
    return this.#listed((tagged) => tagged[tags.claimUid] === claimUid);
  }

  async snapshot(_: ResolvedNodeClass, clusterUid: string): Promise<readonly Instance[]> {
    if (this.findFailure) throw this.findFailure;
    return this.#listed((tagged) => tagged[tags.cluster] === clusterUid);
  }

  async terminate(_: ResolvedNodeClass, { id: instanceId }: InstanceToEnd): Promise<void> {
    if (this.terminateFailure) throw this.terminateFailure;
    const instance = this.made.find(({ id }) => id === instanceId);
    if (instance) instance.endedAt ??= this.#clock.now();
  }

  #launched(request: LaunchRequest): MadeInstance {
    const { identity, candidate, userData } = request;
    const place = `${candidate.instanceType}/${candidate.zone}`;
    const token = JSON.stringify([identity.claimUid, candidate, userData]);
    const known = this.made.find((one) => one.token === token);
    if (known && known.endedAt !== undefined) throw new AttemptSpent('token of an ended instance');
    if (known) return known;
    if (this.full.has(place)) {
      this.#refused.add(place);
      throw new InsufficientCapacity(`no room for ${place}`, 'capacity');
    }
    const number = ++this.#numbers;
    const madeAt = this.#clock.now();
    const instance = { id: `i-${number}`, token, request, address: `10.0.0.${number}`, madeAt };
    this.made.push(instance);
    return instance;
  }

  #listed(isWanted: (tagged: Readonly<Record<string, string>>) => boolean): Instance[] {
    const now = this.#clock.now();
    return this.made
      .filter(({ madeAt }) => now - madeAt >= this.lateBy)
      .map((one) => this.#view(one))
      .filter((instance) => isWanted(instance.tags));
  }

  #view(instance: MadeInstance): Instance {
    const { id, request, address } = instance;
    const { identity, candidate } = request;
    const state = this.#stateOf(instance);
    return {
      id,
      state,
      region,
      instanceType: candidate.instanceType,
      zone: candidate.zone,
      imageId: request.nodeClass.image.id,
      privateAddress: state === 'running' ? address : undefined,
      publicAddress: undefined,
      launchedAt: undefined,
      stateReason: state === 'terminated' ? 'Server.InternalError' : undefined,
      tags: { [tags.cluster]: identity.clusterUid, [tags.claimUid]: identity.claimUid },
    };
  }

  #stateOf({ madeAt, endedAt, stopped }: MadeInstance): Instance['state'] {
    const now = this.#clock.now();
    if (endedAt !== undefined) return now - endedAt < seconds(3) ? 'terminating' : 'terminated';
    if (stopped) return 'stopped';
    return now - madeAt < seconds(2) ? 'pending' : 'running';
  }
}

/** What stands there beside instances; it refuses to delete what somebody has, as clouds do. */
export class FakeParts implements InstanceParts {
  all: InstancePart[] = [];
  listFailure: Error | undefined;
  deleteFailure: Error | undefined;

  async list(): Promise<readonly InstancePart[]> {
    if (this.listFailure) throw this.listFailure;
    return [...this.all];
  }

  async delete(_: ResolvedNodeClass, { id }: InstancePart): Promise<void> {
    if (this.deleteFailure) throw this.deleteFailure;
    const part = this.all.find((one) => one.id === id);
    if (part && !part.isFree) throw new CreateError('VolumeInUse', `${id} is in use`, 'slow');
    this.all = this.all.filter((one) => one.id !== id);
  }
}

export function machineType(name: string, vcpus: number, memoryGiB: number): MachineType {
  const [family = ''] = name.split('.');
  const memoryMiB = memoryGiB * 1024;
  return { name, family, vcpus, memoryMiB, architecture: 'amd64', metal: false, nested: true };
}
