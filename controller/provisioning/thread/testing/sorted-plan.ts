import type { Plan } from '#scheduling/solver.ts';

/** A problem may be told in any order, and its plan in any other. */
export function sortedPlan({ claims, nominations, unschedulable, zones }: Plan) {
  return {
    claims: claims.toSorted((a, b) => compare(a.pods[0] ?? '', b.pods[0] ?? '')),
    nominations: [...nominations].toSorted(([a], [b]) => compare(a, b)),
    unschedulable: [...unschedulable].toSorted(([a], [b]) => compare(a, b)),
    zones: [...zones].toSorted(([a], [b]) => compare(a, b)),
  };
}

const compare = (a: string, b: string): number => (a < b ? -1 : 1);
