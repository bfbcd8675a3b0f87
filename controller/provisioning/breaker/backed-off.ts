import type { ConditionChange } from '#kube/conditions.ts';
import type { NodePool } from '#schemas/karpenter/types.ts';

import { coded } from '../../reason.ts';
import { PoolTexts } from '../pool-texts.ts';
import type { Held } from './breaker.ts';
import type { Resting } from './launches.ts';
import { restText } from './rest-text.ts';

const type = 'ProvisioningBackoff';
/** A condition may say 32768 characters, and nobody reads more than a few of these. */
const mostTold = 5;

/**
 * Pools that make no machine for some Pods, as the last pass found it. The NodePool controller shows it as condition
 * ProvisioningBackoff, which is no part of Ready: the pool serves all other Pods.
 */
export class BackedOff {
  readonly #texts = new PoolTexts(type);

  /** @returns what to tell of the pool, if it is news */
  set(pool: string, held: readonly Held[]): string | undefined {
    return this.#texts.set(pool, backOffText(held));
  }

  forget(pool: string): void {
    this.#texts.forget(pool);
  }

  subscribe(listener: (pool: string) => void): void {
    this.#texts.subscribe(listener);
  }

  /** Nothing before the first pass, and nothing on pools that never had to rest. */
  readonly conditionsOf = (pool: NodePool): readonly ConditionChange[] => {
    const message = this.#texts.textOf(pool);
    if (message === undefined) return [];
    if (message === null) return [{ type, status: 'False', reason: 'NothingHeld', message: '' }];
    return [{ type, status: 'True', reason: 'PodsNotPlaced', message }];
  };
}

/** Pods that rest for the same reason are told by the first of them. */
function backOffText(held: readonly Held[]): string | undefined {
  if (held.length === 0) return undefined;
  const firsts = new Map<Resting, string>();
  for (const { pod, rest } of held.toSorted((a, b) => (a.pod < b.pod ? -1 : 1))) {
    if (!firsts.has(rest)) firsts.set(rest, pod);
  }
  const all = [...firsts].map(([rest, pod]) => restText(pod, rest));
  const more = all.length > mostTold ? [`and ${all.length - mostTold} more kinds of Pods`] : [];
  return coded([...all.slice(0, mostTold), ...more].join('; '), 'KPU347');
}
