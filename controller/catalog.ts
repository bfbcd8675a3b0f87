import type { InstanceType } from '#schemas/instances/instance-type.ts';
import type { ResolvedNodeClass } from '#schemas/nodeclass/types.ts';

/** A node class as new machines are made from it: its current revision. */
export interface Offer {
  /** Name of the ControllerRevision. */
  readonly revision: string;
  /** Its subnets are those that a launch may go to now, the best of each zone first. */
  readonly nodeClass: ResolvedNodeClass;
  /** Every size that the cloud sells there, as this class makes it, cheapest available first; unavailable ones are kept. */
  readonly instanceTypes: readonly InstanceType[];
}

/** What could be launched now. Cheap to ask: clouds are asked behind it, at their own pace. */
export interface Catalog {
  /** Undefined while the class has no revision that can launch. */
  offer(nodeClass: string, signal: AbortSignal): Promise<Offer | undefined>;
}
