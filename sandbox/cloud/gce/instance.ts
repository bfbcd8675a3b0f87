import type { Duration, Instant } from '#schemas/time/clock.ts';

import type { Image, MachineSize, Subnetwork } from './project.ts';

/** Source: Compute Engine API reference, Instance.status. */
export type Status =
  | 'PROVISIONING'
  | 'STAGING'
  | 'RUNNING'
  | 'STOPPING'
  | 'TERMINATED'
  | 'SUSPENDED'
  | 'REPAIRING';

export interface Disk {
  readonly autoDelete: boolean;
  readonly labels: Readonly<Record<string, string>>;
}

/** What an insert asks for, once it was found to be possible. */
export interface Launch {
  readonly name: string;
  readonly zone: string;
  readonly size: MachineSize;
  readonly image: Image;
  readonly subnetwork: Subnetwork;
  readonly nested: boolean;
  readonly public: boolean;
  readonly disks: readonly Disk[];
  readonly protectedFromDeletion: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly metadata: readonly { readonly key: string; readonly value: string }[];
  readonly serviceAccount: string | undefined;
  readonly onHostMaintenance: 'MIGRATE' | 'TERMINATE';
}

/** What is announced for the host of an instance. Source: Compute Engine API reference, UpcomingMaintenance. */
export interface Maintenance {
  readonly type: 'SCHEDULED' | 'UNSCHEDULED';
  readonly maintenanceStatus: 'PENDING' | 'ONGOING';
  readonly windowStartTime?: string;
  readonly maintenanceReasons?: readonly string[];
}

export interface Instance {
  readonly id: string;
  readonly launch: Launch;
  /** A loopback address of its own. */
  readonly address: string;
  readonly createdAt: string;
  /** A test may take some off. */
  labels: Record<string, string>;
  maintenance?: Maintenance;
  status: Status;
  statusMessage: string | undefined;
  /** No answer knows it before this instant. */
  visibleAt: Instant;
}

/** How long Compute Engine takes for what it does on its own. */
export interface GceTimings {
  /** From an insert to the end of its operation, when the resources are there. */
  readonly provisioning: Duration;
  /** From an insert to RUNNING. */
  readonly running: Duration;
  /** From a delete to the end of its operation. */
  readonly terminating: Duration;
  /** How long after an insert answers do not know the instance. */
  readonly invisible: Duration;
}

/** What the next insert does differently. */
export interface InstanceScript extends Partial<GceTimings> {
  /** Its operation fails, and there is no instance. */
  readonly fails?: Failure;
}

/** An error of an operation. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  /** Name of the quota. */
  readonly metric?: string;
  /** The error of an operation whose instance stays all the same. */
  readonly leavesInstance?: true;
}

/** Who makes something of an instance: the machine that boots in it. */
export interface Hardware {
  /** A machine stands by for this new instance; returns its address. */
  place(id: string): string;
  powerOn(instance: Instance): void;
  powerOff(instance: Instance): void;
}
