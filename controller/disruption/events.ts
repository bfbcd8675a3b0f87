/** Karpenter's events of disruption. Source: Karpenter v1.15, pkg/events/reason.go, pkg/controllers/disruption/events. */
import type { EventNote } from '#kube/runtime/events.ts';
import type { NodePool } from '#schemas/karpenter/types.ts';
import { minutes } from '#schemas/time/clock.ts';

import type { Machine } from './candidates.ts';

/** Told on the claim and on its Node, since people look at either. */
function onBoth({ claim, node }: Machine, note: Omit<EventNote, 'object'>): EventNote[] {
  return [claim, node].map((object) => ({ ...note, object }));
}

export function terminating(machine: Machine, why: string): EventNote[] {
  return onBoth(machine, {
    type: 'Normal',
    reason: 'DisruptionTerminating',
    message: `Disrupting: ${why}`,
  });
}

export function blocked(machine: Machine, message: string): EventNote[] {
  return onBoth(machine, {
    type: 'Normal',
    reason: 'DisruptionBlocked',
    message: `Empty, and stays: ${message}`,
    dedupeTimeout: minutes(15),
  });
}

export function rejected(machine: Machine, message: string): EventNote[] {
  return onBoth(machine, {
    type: 'Normal',
    reason: 'ConsolidationRejected',
    message: `Was about to be removed as empty, and stays: ${message}`,
  });
}

export function noBudget(pool: NodePool, empty: number, hasSchedules: boolean): EventNote {
  const schedules = hasSchedules ? '. Budgets with a schedule count at all times' : '';
  return {
    object: pool,
    type: 'Normal',
    reason: 'DisruptionBlocked',
    message: `The budgets allow no disruption for reason Empty now; empty machines that wait: ${empty}${schedules} (KPU403)`,
    dedupeValues: ['Empty'],
    dedupeTimeout: minutes(15),
  };
}

export function unreadable(pool: NodePool, path: string): EventNote {
  return {
    object: pool,
    type: 'Warning',
    reason: 'DisruptionBlocked',
    message: `${path} cannot be read, so nothing is disrupted; write a count or a percentage (KPU404)`,
    dedupeTimeout: minutes(15),
  };
}
