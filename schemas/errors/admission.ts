import type { Explanation } from './explanation.ts';

/** KPU1xx: said when an object is written. */
export const admission = {
  KPU101: {
    title: 'Only spot machines are allowed',
    happens:
      'The write is refused where the webhook or the policies run. A pool that came in otherwise gets ValidationSucceeded=False and launches nothing.',
    fix: 'Add "on-demand" to the values of the karpenter.sh/capacity-type requirement, or remove it.',
  },
} as const satisfies Record<string, Explanation>;
