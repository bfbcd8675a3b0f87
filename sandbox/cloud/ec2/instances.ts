import { randomBytes } from 'node:crypto';

import type { Clock, Duration } from '#schemas/time/clock.ts';

import type { Ec2Instance, Ec2Timings, Launch, State } from './instance.ts';
import { isLive } from './instance.ts';
import { Interfaces } from './interfaces.ts';
import { type Ec2Volume, Volumes } from './volumes.ts';

/** What one instance does differently from {@link Ec2Timings}. */
export interface InstanceScript {
  readonly running?: Duration;
  readonly terminating?: Duration;
  readonly invisible?: Duration;
  /** It never runs: it goes from pending to terminated with this reason. */
  readonly fails?: { readonly code: string; readonly message: string };
  /** Nested virtualisation was asked for, and it comes without. */
  readonly losesNested?: true;
}

/** Who makes something of an instance: the machine that boots in it. */
export interface Hardware {
  /** A machine stands by for this new instance; returns its address. */
  place(id: string): string;
  /** It runs now. */
  powerOn(instance: Ec2Instance): void;
  /** It runs no more. */
  powerOff(instance: Ec2Instance): void;
}

/**
 * Every instance of the account, moving through its states on the clock:
 * pending → running → shutting-down → terminated, or stopped by the cloud.
 */
export class Instances {
  readonly volumes = new Volumes();
  readonly interfaces = new Interfaces();
  readonly #all = new Map<string, Ec2Instance>();
  readonly #clock: Clock;
  readonly #timings: Ec2Timings;
  readonly #hardware: Hardware;
  readonly #scripts: InstanceScript[] = [];
  readonly #terminating = new Map<string, Duration>();
  #reservations = 0;

  constructor(clock: Clock, timings: Ec2Timings, hardware: Hardware) {
    this.#clock = clock;
    this.#timings = timings;
    this.#hardware = hardware;
  }

  /** Scripts the next instance that is started. */
  next(script: InstanceScript): void {
    this.#scripts.push(script);
  }

  /** Everything there is, seen or not. */
  get all(): readonly Ec2Instance[] {
    return [...this.#all.values()];
  }

  /** What Describe knows now. */
  get visible(): readonly Ec2Instance[] {
    const now = this.#clock.now();
    return this.all.filter(
      ({ visibleAt, endedAt }) =>
        visibleAt <= now && (endedAt === undefined || now - endedAt < this.#timings.listed),
    );
  }

  /** Not terminated and not about to be. */
  get live(): readonly Ec2Instance[] {
    return this.all.filter(isLive);
  }

  /** Disks that stayed when their instance ended, since nobody asked for their deletion. */
  get leftVolumes(): readonly Ec2Volume[] {
    return this.volumes.left;
  }

  get(id: string): Ec2Instance | undefined {
    return this.#all.get(id);
  }

  /** Starts `count` instances in one reservation. */
  run(launch: Launch, count: number): readonly Ec2Instance[] {
    const reservation = `r-${(++this.#reservations).toString(16).padStart(17, '0')}`;
    return Array.from({ length: count }, () => this.#start(launch, reservation));
  }

  #start(launch: Launch, reservation: string): Ec2Instance {
    const script = this.#scripts.shift() ?? {};
    const id = `i-0${randomBytes(8).toString('hex')}`;
    const instance: Ec2Instance = {
      id,
      reservation,
      launch: script.losesNested ? { ...launch, nested: false } : launch,
      address: this.#hardware.place(id),
      launchedAt: this.#clock.stamp(),
      tags: { ...launch.tags },
      state: 'pending',
      reason: undefined,
      visibleAt: this.#clock.now() + (script.invisible ?? this.#timings.invisible),
      endedAt: undefined,
      impairedSince: undefined,
      events: [],
      isProtected: launch.protectedFromTermination,
    };
    launch.subnet.freeAddresses -= 1;
    this.#all.set(instance.id, instance);
    const { zone, id: subnet } = launch.subnet;
    this.interfaces.add({ zone, subnet, tags: launch.interfaceTags, instance: id });
    for (const volume of launch.volumes)
      this.volumes.add({ ...volume, zone, createdAt: instance.launchedAt, instance: id });
    this.#terminating.set(instance.id, script.terminating ?? this.#timings.terminating);
    this.#clock.after(script.running ?? this.#timings.running, () => {
      if (instance.state !== 'pending') return;
      if (script.fails) return this.fail(instance.id, script.fails);
      instance.state = 'running';
      this.#hardware.powerOn(instance);
    });
    return instance;
  }

  /** As TerminateInstances; does nothing to one that is ending already. Returns the state before. */
  terminate(id: string): State {
    const instance = this.#known(id);
    const before = instance.state;
    if (!isLive(instance)) return before;
    instance.state = 'shutting-down';
    instance.reason = {
      code: 'Client.UserInitiatedShutdown',
      message: 'Client.UserInitiatedShutdown: User initiated shutdown',
    };
    this.#hardware.powerOff(instance);
    this.#clock.after(this.#terminating.get(id) ?? 0, () => this.#end(instance));
    return before;
  }

  /** The cloud stops it, as it does for a retirement: it is not gone, and it is still paid for. */
  stop(id: string): void {
    const instance = this.#known(id);
    instance.state = 'stopped';
    instance.reason = {
      code: 'Server.ScheduledStop',
      message: 'Server.ScheduledStop: Stopped due to a scheduled retirement',
    };
    this.#hardware.powerOff(instance);
  }

  /** The cloud ends it at once, for a reason of its own. */
  fail(id: string, reason: { code: string; message: string }): void {
    const instance = this.#known(id);
    if (instance.state === 'running') this.#hardware.powerOff(instance);
    instance.reason = reason;
    this.#end(instance);
  }

  #end(instance: Ec2Instance): void {
    if (instance.state === 'terminated') return;
    instance.state = 'terminated';
    instance.endedAt = this.#clock.now();
    instance.launch.subnet.freeAddresses += 1;
    this.volumes.release(instance.id);
    this.interfaces.release(instance.id);
  }

  #known(id: string): Ec2Instance {
    const instance = this.#all.get(id);
    if (!instance) throw new Error(`There is no instance ${id}.`);
    return instance;
  }
}
