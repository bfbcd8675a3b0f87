import type { Metrics } from '#kube/metrics.ts';
import type { Runnable } from '#kube/runtime/reconciler.ts';

import type { Context } from '../context.ts';
import type { ExtraConditions } from '../nodepool/controller.ts';
import { LimitStates } from './limit-states.ts';
import { Provisioner, type ProvisionerParts } from './provisioner.ts';

export interface Provisioning {
  readonly runnables: readonly Runnable[];
  /** LimitReached, for the one writer of a NodePool's status. */
  readonly poolConditions: ExtraConditions;
  /** Tells the name of each pool whose conditions changed. */
  onPoolChange(listener: (pool: string) => void): void;
}

/** The provisioner with what other rooms hear from it. */
export function provisioningControllers(
  context: Context,
  parts: Omit<ProvisionerParts, 'limits' | 'metrics'>,
  metrics: Metrics,
): Provisioning {
  const limits = new LimitStates();
  context.caches.nodePools.subscribe({ delete: ({ metadata }) => limits.forget(metadata.name) });
  return {
    runnables: [new Provisioner(context, { ...parts, limits, metrics })],
    poolConditions: limits.conditionsOf,
    onPoolChange: (listener) => void limits.subscribe(listener),
  };
}
