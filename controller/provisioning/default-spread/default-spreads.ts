import type { Informer } from '#kube/cache/informer.ts';
import type { DefaultSpread } from '#scheduling/solver.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import type { KubeObject, LabelSelector, Live } from '#schemas/kubernetes/meta.ts';
import { keyText } from '#schemas/kubernetes/resource.ts';

import type { Slices } from '../slices.ts';
import type { SpreadCaches } from './caches.ts';
import type { SchedulerConfig } from './scheduler-config.ts';
import { PodSelectors } from './selectors.ts';

/** The spread that kube-scheduler gives to Pods that have none of their own, told so that planning counts as it does. */
export class DefaultSpreads {
  /** Before these are in sync nothing is planned: a spread that is not seen would be broken. */
  readonly caches: readonly Pick<Informer<KubeObject>, 'whenSynced'>[];
  readonly #config: SchedulerConfig;
  readonly #selectors: PodSelectors;

  constructor(config: SchedulerConfig, caches: SpreadCaches) {
    this.#config = config;
    this.#selectors = new PodSelectors(caches);
    this.caches = Object.values(caches);
  }

  async of(pods: readonly Live<Pod>[], slices: Slices): Promise<DefaultSpread> {
    const selectors = new Map<string, readonly LabelSelector[]>();
    await slices.each(pods, (pod) => {
      const own = this.#isGiven(pod) ? this.#selectors.of(pod) : [];
      if (own.length > 0) selectors.set(keyText(pod.metadata), own);
    });
    return { constraints: this.#config.constraints, selectors };
  }

  #isGiven({ spec }: Pod): boolean {
    const { topologySpreadConstraints: own = [], schedulerName = 'default-scheduler' } = spec ?? {};
    const { schedulerName: asked = schedulerName } = this.#config;
    return own.length === 0 && schedulerName === asked;
  }
}
