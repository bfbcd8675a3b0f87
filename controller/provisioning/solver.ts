import type { Plan, Problem } from '#scheduling/solver.ts';

/** Where problems are solved: one at a time. */
export interface Solver {
  /**
   * @param signal  when it aborts nobody waits for the plan any more
   * @throws the signal's reason, or why there is no plan: another try may have one
   */
  solve(problem: Problem, signal: AbortSignal): Promise<Plan>;
}
