import type { Metrics } from '#kube/metrics.ts';
import type { Runnable } from '#kube/runtime/reconciler.ts';
import { singleton } from '#kube/runtime/singleton.ts';
import { minutes } from '#schemas/time/clock.ts';

import type { Clouds } from '../clouds.ts';
import type { Context } from '../context.ts';
import { LeftoverCollector } from './collector.ts';
import { Places } from './everywhere.ts';
import { Telling } from './telling.ts';

/** A round costs a few lists of each region, and a walk through each zone; what is left costs until it is found. */
const interval = minutes(5);

/** @param namespaces  that Kraftlet may be put into */
export function leftoverCollection(
  context: Context,
  { clouds, namespaces }: { clouds: Clouds; namespaces: readonly string[] },
  metrics: Metrics,
): Runnable {
  const { clock, log } = context;
  const places = new Places(context, clouds, namespaces);
  const telling = new Telling(context, metrics);
  const collector = new LeftoverCollector(context, async () => places.all(), telling);
  const round = async (signal: AbortSignal): Promise<void> => collector.collect(signal);
  return singleton('leftovers', interval, round, { clock, log, metrics });
}
