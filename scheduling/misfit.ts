import { nodesOf } from './machines/offering.ts';
import { misfit, suits } from './machines/suiting.ts';
import type { PoolInSight } from './solver.ts';

/**
 * Why a pool can never make a machine: its own requirements leave no size. Undefined when they leave some, and when
 * its node class has none to begin with.
 */
export function misfitOf(pool: PoolInSight): string | undefined {
  const { offered } = nodesOf(pool);
  const { instanceTypes } = pool;
  if (instanceTypes.length === 0) return undefined;
  return instanceTypes.some((type) => suits(type, offered))
    ? undefined
    : misfit(instanceTypes, offered);
}
