import type { ConditionChange } from '#kube/conditions.ts';
import type { NodePool } from '#schemas/karpenter/types.ts';

/** A limit that keeps a pool from another machine. */
export interface LimitState {
  readonly resource: string;
  readonly limit: string;
  readonly use: string;
  /** The UnikraftQuotaPolicy whose ceiling it is; absent: a limit of the pool's own. */
  readonly policy?: string;
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
    return state !== undefined && ownerOf(before) !== ownerOf(state);
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
    const state = this.#states.get(name);
    if (!this.#states.has(name) || (!state && !pool.spec.limits && !hadOne)) return [];
    if (!state) {
      return [{ type: 'LimitReached', status: 'False', reason: 'WithinLimits', message: '' }];
    }
    const reason = 'LimitReached';
    return [{ type: 'LimitReached', status: 'True', reason, message: limitText(name, state) }];
  };
}

/** `Limit cpu 32 of NodePool batch is reached, 30 in use`, with the code. */
export function limitText(pool: string, { resource, limit, use, policy }: LimitState): string {
  const [owner, code] =
    policy === undefined
      ? [`NodePool ${pool}`, 'KPU340']
      : [`UnikraftQuotaPolicy ${policy}`, 'KPU341'];
  return `Limit ${resource} ${limit} of ${owner} is reached, ${use} in use (${code})`;
}

function textOf(state: LimitState | undefined): string {
  return state ? `${ownerOf(state)} ${state.limit} ${state.use}` : '';
}

function ownerOf(state: LimitState | undefined): string | undefined {
  return state && `${state.resource} ${state.policy ?? ''}`;
}
