import type { Explanation } from './explanation.ts';

/** KPU6xx: said by kpu, the command line. */
export const cli = {
  KPU601: {
    title: 'What a cluster left could not be listed in whole',
    happens:
      'Nothing is removed: what is missing from a list could be what another thing there stands on.',
    fix: 'Mend what the message names, or leave that region or zone out, and repeat the command.',
  },
  KPU602: {
    title: 'Not all that a cluster left could be removed',
    happens:
      'The others of its kind were removed; what comes after them was left: a machine keeps running until its names are gone, since its address may be given to somebody else.',
    fix: 'Mend what the message names (lift a termination protection, give a right), and repeat the command, which goes on from there.',
  },
  KPU603: {
    title: 'A cluster made more while it was cleaned up',
    happens: 'What was shown is removed; what has come since is named and left.',
    fix: 'End the operator of that cluster first, then repeat the command.',
  },
} as const satisfies Record<string, Explanation>;
