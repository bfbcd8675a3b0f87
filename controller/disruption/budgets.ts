/**
 * How many machines of a pool may be disrupted at once.
 *
 * Source: Karpenter v1.15, pkg/apis/v1/nodepool.go (budgets) and pkg/controllers/disruption/helpers.go.
 */
import type { Budget, DisruptionReason, NodePool } from '#schemas/karpenter/types.ts';

export interface PoolCounts {
  /** Initialised machines of the pool, whatever becomes of them. */
  readonly nodes: number;
  /** Of these, the ones that are being deleted or are chosen for it. */
  readonly leaving: number;
  /** Of the others, the ones whose Node is not Ready. */
  readonly notReady: number;
}

/** What the API server fills in where a pool says nothing. */
const defaultBudgets: readonly Budget[] = [{ nodes: '10%' }];

/**
 * How many more machines may be disrupted now for `reason`. Those that are leaving or not ready use the allowance up.
 *
 * A budget with a schedule counts at all times. Schedules are not read yet, and the smallest of all budgets is never
 * more than the smallest of those that are open, so that this only ever disrupts less.
 *
 * @returns a whole number, 0 or more
 */
export function allowedDisruptions(
  pool: NodePool,
  { nodes, leaving, notReady }: PoolCounts,
  reason: DisruptionReason,
): number {
  const limits = budgetsOf(pool)
    .filter(({ reasons }) => reasons === undefined || reasons.includes(reason))
    .map((budget) => limitOf(budget, nodes));
  return Math.max(0, Math.min(nodes, ...limits) - leaving - notReady);
}

/** The first budget that cannot be read; it allows nothing. */
export function unreadableBudget(pool: NodePool): string | undefined {
  const index = budgetsOf(pool).findIndex((budget) => Number.isNaN(readLimit(budget, 1)));
  return index === -1 ? undefined : `spec.disruption.budgets[${index}].nodes`;
}

/** Whether a budget counts now that upstream would count only at times. */
export function hasSchedules(pool: NodePool): boolean {
  return budgetsOf(pool).some(({ schedule }) => schedule !== undefined);
}

function budgetsOf({ spec }: NodePool): readonly Budget[] {
  return spec.disruption?.budgets ?? defaultBudgets;
}

function limitOf(budget: Budget, nodes: number): number {
  const limit = readLimit(budget, nodes);
  return Number.isNaN(limit) ? 0 : limit;
}

/** A percentage is rounded up, so "10%" of 5 machines is one. NaN when it cannot be read. */
function readLimit({ nodes: text }: Budget, nodes: number): number {
  const { count, percent } = /^(?:(?<count>\d+)|(?<percent>\d+)%)$/.exec(text)?.groups ?? {};
  if (percent !== undefined) return Math.ceil((nodes * Number(percent)) / 100);
  return count === undefined ? NaN : Number(count);
}
