import type { EventNote } from '#kube/runtime/events.ts';
import type { ConfigMap } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { minutes } from '#schemas/time/clock.ts';

/** An event holds 1024 letters, and whoever mends three lines sees the next three. */
const shown = 3;

export function refused(object: Live<ConfigMap>, problems: readonly string[]): EventNote {
  const more = problems.length - shown;
  const lines = [...problems.slice(0, shown), ...(more > 0 ? [`and ${more} more`] : [])];
  return {
    object,
    type: 'Warning',
    reason: 'PricesRefused',
    message: `Not taken, what held before for these holds on: ${lines.join('; ')} (KPU348)`,
    dedupeTimeout: minutes(10),
  };
}
