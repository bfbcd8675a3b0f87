import type { Metrics } from '#kube/metrics.ts';
import { Controller, watch } from '#kube/runtime/controller.ts';
import type { CloudFacts } from '#machine/cloud/cloud-facts.ts';

import type { Context } from '../context.ts';
import { PricesController } from './controller.ts';

/** The one ConfigMap of prices, whenever it changes. */
export function pricesController(
  context: Context,
  facts: CloudFacts,
  metrics: Metrics,
): Controller {
  const { caches, clock, log } = context;
  return new Controller({
    name: 'prices',
    reconciler: new PricesController(context, facts),
    concurrency: 1,
    clock,
    log,
    metrics,
    watches: [watch(caches.prices)],
  });
}
