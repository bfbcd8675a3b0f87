import type { ConditionChange } from '#kube/conditions.ts';
import type { NodePool } from '#schemas/karpenter/types.ts';

import { coded } from '../reason.ts';
import { PoolTexts } from './pool-texts.ts';

const type = 'InstanceTypesFound';
/** Upstream's reason. Source: Karpenter v1.15, pkg/events/reason.go. */
export const noInstanceTypes = 'NoCompatibleInstanceTypes';

/**
 * Pools whose own requirements leave no size of machine, as the last pass found it. Each is valid by itself, and
 * nothing will ever be launched from it; the NodePool controller shows that as a condition, which is no part of Ready.
 */
export class Misfits {
  readonly #texts = new PoolTexts(type);

  /**
   * @param misfit  what its requirements leave nothing of; undefined where they leave a size
   * @returns what to tell of the pool, if it is news
   */
  set(pool: string, misfit: string | undefined): string | undefined {
    return this.#texts.set(pool, misfit === undefined ? undefined : misfitText(misfit));
  }

  forget(pool: string): void {
    this.#texts.forget(pool);
  }

  subscribe(listener: (pool: string) => void): void {
    this.#texts.subscribe(listener);
  }

  /** Pools that always found sizes say nothing of it. */
  readonly conditionsOf = (pool: NodePool): readonly ConditionChange[] => {
    const message = this.#texts.textOf(pool);
    if (message === undefined) return [];
    if (message === null) return [{ type, status: 'True' }];
    return [{ type, status: 'False', reason: noInstanceTypes, message }];
  };
}

/** As a sentence of its own: `No instance type of its node class has … (KPU345)`. */
function misfitText(misfit: string): string {
  return coded(misfit.charAt(0).toUpperCase() + misfit.slice(1), 'KPU345');
}
