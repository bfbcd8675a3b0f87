import type { Reconciler, Result } from '#kube/runtime/reconciler.ts';
import type { CloudFacts } from '#machine/cloud/cloud-facts.ts';
import { type PriceOverrides, readOverrides } from '#schemas/instances/price-overrides.ts';

import type { Context } from '../context.ts';
import { refused } from './events.ts';

/**
 * Prices that whoever runs the cluster wrote into a ConfigMap hold in place of recorded ones. Without the ConfigMap, or
 * once it is deleted, recorded prices hold.
 *
 * What cannot be used is told in an event on the ConfigMap, and what held before for it holds on (KPU348). That is
 * remembered by this process alone: after a restart a bad line says nothing, and the recorded price holds.
 */
export class PricesController implements Reconciler {
  readonly #context: Pick<Context, 'caches' | 'recorder' | 'log'>;
  readonly #facts: Pick<CloudFacts, 'override'>;
  #inForce: PriceOverrides = new Map();

  constructor(
    context: Pick<Context, 'caches' | 'recorder' | 'log'>,
    facts: Pick<CloudFacts, 'override'>,
  ) {
    this.#context = context;
    this.#facts = facts;
  }

  /** @param key of the ConfigMap */
  async reconcile(key: string): Promise<Result> {
    const { caches, log, recorder } = this.#context;
    const configMap = caches.prices.get(key);
    const last = configMap ? this.#inForce : undefined;
    const { prices, problems } = readOverrides(configMap?.data ?? {}, last);
    this.#inForce = prices;
    this.#facts.override(prices);
    const count = [...prices.values()].reduce((sum, sizes) => sum + sizes.size, 0);
    log.info({ prices: count, refused: problems.length }, 'prices that were set hold');
    if (configMap && problems.length > 0) {
      log.warn({ code: 'KPU348', problems: problems.slice(0, 20) }, 'prices were not taken');
      recorder.record(refused(configMap, problems));
    }
    return {};
  }
}
