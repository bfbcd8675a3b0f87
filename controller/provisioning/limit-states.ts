import type { ConditionChange } from '#kube/conditions.ts';
import type { NodePool } from '#schemas/karpenter/types.ts';

/** A limit that keeps a pool from another machine. */
export interface LimitState {
  readonly resource: string;
  readonly limit: string;
  readonly use: string;
}

/**
 * Which pools are at a limit, as the last pass found it. The NodePool controller, the only writer of that status,
 * shows it as condition LimitReached, which is no part of Ready.
 */
export class LimitStates {
  /** Pool → its limit, or undefined where it has room. */
  readonly #states = new Map<string, LimitState | undefined>();
  readonly #listeners = new Set<(pool: string) => void>();

  get(pool: string): LimitState | undefined {
    return this.#states.get(pool);
  }

  /** @returns whether the pool has reached a limit that it had not reached before */
  set(pool: string, state: LimitState | undefined): boolean {
    const before = this.#states.get(pool);
    const isKnown = this.#states.has(pool);
    this.#states.set(pool, state);
    if (isKnown && textOf(before) === textOf(state)) return false;
    this.#listeners.forEach((listener) => listener(pool));
    return state !== undefined && before?.resource !== state.resource;
  }

  forget(pool: string): void {
    this.#states.delete(pool);
  }

  subscribe(listener: (pool: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Nothing before the first pass, so that a restart does not say False for a moment. */
  readonly conditionsOf = (pool: NodePool): readonly ConditionChange[] => {
    const name = pool.metadata?.name ?? '';
    const hadOne = pool.status?.conditions?.some(({ type }) => type === 'LimitReached') === true;
    if (!this.#states.has(name) || (!pool.spec.limits && !hadOne)) return [];
    const state = this.#states.get(name);
    if (!state) {
      return [{ type: 'LimitReached', status: 'False', reason: 'WithinLimits', message: '' }];
    }
    const reason = 'LimitReached';
    return [{ type: 'LimitReached', status: 'True', reason, message: limitText(name, state) }];
  };
}

/** `limit cpu 32 of NodePool batch is reached, 30 in use`, with the code. */
export function limitText(pool: string, { resource, limit, use }: LimitState): string {
  return `limit ${resource} ${limit} of NodePool ${pool} is reached, ${use} in use (KPU340)`;
}

function textOf(state: LimitState | undefined): string {
  return state ? `${state.resource} ${state.limit} ${state.use}` : '';
}
