import type { Metrics } from '#kube/metrics.ts';
import type { Runnable } from '#kube/runtime/reconciler.ts';

import type { Context } from '../context.ts';
import type { ExtraConditions } from '../nodepool/controller.ts';
import { BackedOff } from './breaker/backed-off.ts';
import { LimitStates } from './limit-states.ts';
import { Misfits } from './misfits.ts';
import { Provisioner, type ProvisionerParts } from './provisioner.ts';
import { SolverThread } from './thread/solver-thread.ts';

export interface Provisioning {
  readonly runnables: readonly Runnable[];
  /** LimitReached, InstanceTypesFound and ProvisioningBackoff, for the one writer of a NodePool's status. */
  readonly poolConditions: ExtraConditions;
  /** Tells the name of each pool whose conditions changed. */
  onPoolChange(listener: (pool: string) => void): void;
}

/** The provisioner with what other rooms hear from it. */
export function provisioningControllers(
  context: Context,
  parts: Omit<ProvisionerParts, 'limits' | 'misfits' | 'backedOff' | 'metrics' | 'solver'>,
  metrics: Metrics,
): Provisioning {
  const limits = new LimitStates();
  const misfits = new Misfits();
  const backedOff = new BackedOff();
  context.caches.nodePools.subscribe({
    delete: ({ metadata }) => {
      limits.forget(metadata.name);
      misfits.forget(metadata.name);
      backedOff.forget(metadata.name);
    },
  });
  const solver = new SolverThread({ ...context, metrics });
  const own = { limits, misfits, backedOff, metrics, solver };
  return {
    runnables: [solver, new Provisioner(context, { ...parts, ...own })],
    poolConditions: (pool) =>
      [limits, misfits, backedOff].flatMap((states) => states.conditionsOf(pool)),
    onPoolChange: (listener) => {
      limits.subscribe(listener);
      misfits.subscribe(listener);
      backedOff.subscribe(listener);
    },
  };
}
