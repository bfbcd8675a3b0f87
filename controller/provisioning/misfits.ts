import type { ConditionChange } from '#kube/conditions.ts';
import type { NodePool } from '#schemas/karpenter/types.ts';

import { coded } from '../reason.ts';

const type = 'InstanceTypesFound';
/** Upstream's reason. Source: Karpenter v1.15, pkg/events/reason.go. */
export const noInstanceTypes = 'NoCompatibleInstanceTypes';

/**
 * Pools whose own requirements leave no size of machine, as the last pass found it. Each is valid by itself, and
 * nothing will ever be launched from it; the NodePool controller shows that as a condition, which is no part of Ready.
 */
export class Misfits {
  /** Pool → what its requirements leave nothing of; undefined where they leave a size. */
  readonly #texts = new Map<string, string | undefined>();
  readonly #listeners = new Set<(pool: string) => void>();

  /** @returns what to tell of the pool, if it is news */
  set(pool: string, misfit: string | undefined): string | undefined {
    const text = misfit === undefined ? undefined : misfitText(misfit);
    const before = this.#texts.get(pool);
    const isKnown = this.#texts.has(pool);
    this.#texts.set(pool, text);
    if (isKnown && before === text) return undefined;
    this.#listeners.forEach((listener) => listener(pool));
    return text;
  }

  forget(pool: string): void {
    this.#texts.delete(pool);
  }

  subscribe(listener: (pool: string) => void): void {
    this.#listeners.add(listener);
  }

  /** Pools that always found sizes say nothing of it. */
  readonly conditionsOf = ({ metadata, status }: NodePool): readonly ConditionChange[] => {
    const name = metadata?.name ?? '';
    if (!this.#texts.has(name)) return [];
    const message = this.#texts.get(name);
    if (message !== undefined) return [{ type, status: 'False', reason: noInstanceTypes, message }];
    const hadOne = status?.conditions?.some((condition) => condition.type === type) === true;
    return hadOne ? [{ type, status: 'True' }] : [];
  };
}

/** As a sentence of its own: `No instance type of its node class has … (KPU345)`. */
function misfitText(misfit: string): string {
  return coded(misfit.charAt(0).toUpperCase() + misfit.slice(1), 'KPU345');
}
