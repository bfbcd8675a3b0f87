import type { Clock } from '#schemas/time/clock.ts';

import { CloudError } from '../wire/service.ts';
import { Disks, type GceDisk } from './disks.ts';
import type {
  Failure,
  GceTimings,
  Hardware,
  Instance,
  InstanceScript,
  Launch,
  Status,
} from './instance.ts';
import { type Operation, Operations } from './operations.ts';

interface Refusal extends Failure {
  readonly zone?: string | undefined;
  readonly type?: string | undefined;
}

/**
 * Every instance of the project, moving through its states on the clock: PROVISIONING until its operation is done,
 * STAGING, RUNNING; STOPPING until the operation of its delete is done, and then no more; TERMINATED or SUSPENDED when
 * the cloud stops it. A stockout is told by the operation alone: of its instance nobody ever hears.
 */
export class Instances {
  readonly operations: Operations;
  readonly disks = new Disks();
  /** Zones that cannot be reached: lists leave them out with a warning, and calls to them fail. */
  readonly unreachable = new Set<string>();
  readonly #clock: Clock;
  readonly #timings: GceTimings;
  readonly #hardware: Hardware;
  readonly #all = new Map<string, Instance>();
  readonly #scripts: InstanceScript[] = [];
  readonly #failingEnds: Failure[] = [];
  #refusals: Refusal[] = [];
  #made = 0;

  constructor(clock: Clock, timings: GceTimings, hardware: Hardware) {
    this.#clock = clock;
    this.#timings = timings;
    this.#hardware = hardware;
    this.operations = new Operations(clock);
  }

  /** Scripts the next instance that is inserted. */
  next(script: InstanceScript): void {
    this.#scripts.push(script);
  }

  /**
   * Refuses inserts by their operation, of a size or in a zone or all; the returned function takes it back.
   *
   * @example const back = gce.instances.refuse({ zone: 'europe-west1-b' }); // no capacity
   */
  refuse(what: Partial<Refusal>): () => void {
    const { code = 'ZONE_RESOURCE_POOL_EXHAUSTED', zone, type } = what;
    const message =
      what.message ??
      `The zone 'projects/sandbox-project/zones/${zone}' does not have enough resources available to fulfill the request. Try a different zone, or try again later.`;
    const refusal = { ...what, code, message, zone, type };
    this.#refusals.push(refusal);
    return () => {
      this.#refusals = this.#refusals.filter((other) => other !== refusal);
    };
  }

  /** The next delete that is taken fails by its operation, and its instance stays what it was. */
  nextEndFails(failure: Failure): void {
    this.#failingEnds.push(failure);
  }

  /** Everything there is, seen or not. */
  get all(): readonly Instance[] {
    return [...this.#all.values()];
  }

  get visible(): readonly Instance[] {
    const now = this.#clock.now();
    return this.all.filter(({ visibleAt }) => visibleAt <= now);
  }

  /** Disks that stayed when their instance ended, since nobody asked for their deletion. */
  get leftDisks(): readonly GceDisk[] {
    return this.disks.left;
  }

  get(zone: string, name: string): Instance | undefined {
    return this.#all.get(`${zone}/${name}`);
  }

  /** How many inserts were taken: each made an instance, or failed of its operation. */
  get made(): number {
    return this.#made;
  }

  insert(launch: Launch): Operation {
    const script = this.#scripts.shift() ?? {};
    const timings = { ...this.#timings, ...script };
    const { zone, name: target } = launch;
    this.#made += 1;
    const failure = script.fails ?? this.#refusalOf(launch);
    const instance = failure && !failure.leavesInstance ? undefined : this.#place(launch, timings);
    const what = { zone, type: 'insert', target, targetId: instance?.id } as const;
    return this.operations.begin(what, timings.provisioning, () => {
      if (instance?.status === 'PROVISIONING') instance.status = 'STAGING';
      return failure;
    });
  }

  /** The instance ends with the operation; one that is ending already is not ended anew. */
  delete(instance: Instance): Operation {
    const { zone, name: target } = instance.launch;
    const what = { zone, type: 'delete', target, targetId: instance.id } as const;
    const failure = this.#failingEnds.shift();
    if (failure) return this.operations.begin(what, this.#timings.terminating, () => failure);
    if (instance.status === 'RUNNING') this.#hardware.powerOff(instance);
    instance.status = 'STOPPING';
    return this.operations.begin(
      what,
      this.#terminating.get(instance.id) ?? this.#timings.terminating,
      () => {
        this.#remove(instance);
        return undefined;
      },
    );
  }

  /** The disk ends with the operation. Throws notFound and resourceInUseByAnotherResource. */
  deleteDisk(zone: string, name: string): Operation {
    this.disks.delete(zone, name);
    return this.operations.begin({ zone, type: 'delete', target: name }, 0, () => undefined);
  }

  /** The cloud stops or suspends it: it is not gone, and its disks are paid for. */
  halt(
    zone: string,
    name: string,
    status: Extract<Status, 'TERMINATED' | 'SUSPENDED' | 'REPAIRING'>,
  ): void {
    const instance = this.#known(zone, name);
    if (instance.status === 'RUNNING') this.#hardware.powerOff(instance);
    instance.status = status;
    instance.statusMessage = 'Instance terminated by Compute Engine.';
  }

  /** It is gone, and nobody asked for it. */
  vanish(zone: string, name: string): void {
    const instance = this.#known(zone, name);
    if (instance.status === 'RUNNING') this.#hardware.powerOff(instance);
    this.#remove(instance);
  }

  readonly #terminating = new Map<string, number>();

  #place(launch: Launch, timings: GceTimings): Instance {
    const id = String(4_611_686_018_427_000_000n + BigInt(this.#made));
    const instance: Instance = {
      id,
      launch,
      address: this.#hardware.place(id),
      createdAt: this.#clock.stamp(),
      labels: { ...launch.labels },
      status: 'PROVISIONING',
      statusMessage: undefined,
      visibleAt: this.#clock.now() + timings.invisible,
    };
    launch.subnetwork.freeAddresses -= 1;
    this.disks.add(launch);
    this.#all.set(`${launch.zone}/${launch.name}`, instance);
    this.#terminating.set(id, timings.terminating);
    this.#clock.after(timings.running, () => {
      if (instance.status !== 'STAGING' && instance.status !== 'PROVISIONING') return;
      instance.status = 'RUNNING';
      this.#hardware.powerOn(instance);
    });
    return instance;
  }

  #refusalOf({ zone, size }: Launch): Failure | undefined {
    return this.#refusals.find(
      (one) => (one.zone ?? zone) === zone && (one.type ?? size.name) === size.name,
    );
  }

  #remove(instance: Instance): void {
    const { zone, name, subnetwork } = instance.launch;
    if (!this.#all.delete(`${zone}/${name}`)) return;
    subnetwork.freeAddresses += 1;
    this.disks.release(zone, name);
  }

  #known(zone: string, name: string): Instance {
    const instance = this.get(zone, name);
    if (!instance) throw new CloudError('notFound', `There is no instance ${name} in ${zone}`, 404);
    return instance;
  }
}
