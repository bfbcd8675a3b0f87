import type { InstanceType } from '#schemas/instances/instance-type.ts';

import type { HostPort } from '../pods/host-ports.ts';
import type { Amounts } from '../slots.ts';

/** An instance type as one pool's nodes have it. */
export interface Size {
  /** Its place in the pool's catalog. */
  readonly index: number;
  readonly type: InstanceType;
  /** What DaemonSets' Pods will take of it. */
  readonly daemons: Amounts;
  /** Capacity less daemons. */
  readonly usable: Amounts;
  /** What one node takes of the pool's limits, in the order of {@link Template.limited}. */
  readonly takes: Float64Array;
  /** Ports that DaemonSets' Pods will take. */
  readonly ports: readonly HostPort[];
}
