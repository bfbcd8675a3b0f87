import type { Duration, Instant } from '#schemas/time/clock.ts';

import type { Image, SecurityGroup, Subnet } from './account.ts';
import type { InstanceSize } from './region.ts';

/** State names with the numbers that EC2 gives them. */
export const states = {
  pending: 0,
  running: 16,
  'shutting-down': 32,
  terminated: 48,
  stopping: 64,
  stopped: 80,
} as const;
export type State = keyof typeof states;

export interface Volume {
  readonly device: string;
  readonly deletedOnTermination: boolean;
  readonly tags: Readonly<Record<string, string>>;
}

/** What a RunInstances call asks for, once it was found to be possible. */
export interface Launch {
  readonly image: Image;
  readonly size: InstanceSize;
  readonly subnet: Subnet;
  readonly groups: readonly SecurityGroup[];
  readonly clientToken: string | undefined;
  /** It has an address of the world's too. */
  readonly public: boolean;
  /** Decoded. */
  readonly userData: string;
  /** Name of the instance profile, whose role it has. */
  readonly profile: string | undefined;
  readonly nested: boolean;
  readonly protectedFromTermination: boolean;
  readonly metadata: { readonly tokens: string; readonly hopLimit: number; readonly tags: string };
  readonly volumes: readonly Volume[];
  readonly tags: Readonly<Record<string, string>>;
  readonly interfaceTags: Readonly<Record<string, string>>;
}

export interface ScheduledEvent {
  readonly code:
    | 'instance-reboot'
    | 'system-reboot'
    | 'system-maintenance'
    | 'instance-retirement'
    | 'instance-stop';
  /** Begins with `[Completed]` or `[Canceled]` once it is over. */
  readonly description: string;
  /** RFC 3339. */
  readonly notBefore: string;
}

export interface Ec2Instance {
  readonly id: string;
  readonly reservation: string;
  readonly launch: Launch;
  /** A loopback address of its own. */
  readonly address: string;
  /** Real time, RFC 3339. */
  readonly launchedAt: string;
  readonly tags: Record<string, string>;
  state: State;
  /** Why it is in that state, where EC2 says so. */
  reason: { readonly code: string; readonly message: string } | undefined;
  /** Describe does not know it before this instant. */
  visibleAt: Instant;
  /** When it became terminated. */
  endedAt: Instant | undefined;
  /** Since when its status check fails. */
  impairedSince: Date | undefined;
  /** What is scheduled for it. */
  events: readonly ScheduledEvent[];
  /** Somebody set `disableApiTermination`, at the launch or later. */
  isProtected: boolean;
}

/** How long EC2 takes for what it does on its own. */
export interface Ec2Timings {
  /** From RunInstances to `running`. */
  readonly running: Duration;
  /** From TerminateInstances to `terminated`. */
  readonly terminating: Duration;
  /** How long after RunInstances Describe does not know an instance. */
  readonly invisible: Duration;
  /** How long a terminated instance stays listed; about an hour on the real one. */
  readonly listed: Duration;
}

export const isLive = ({ state }: Ec2Instance): boolean =>
  state !== 'shutting-down' && state !== 'terminated';
