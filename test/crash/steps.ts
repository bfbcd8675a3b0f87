/** The numbered steps of a machine's life, as the gate saw them, and the cases that come of them. */
import type { Met, Stop } from './gate/gate.ts';

export type Phase = 'launch' | 'removal';

/** The order in which a wave's machines are brought to their stops, since some stops keep others from theirs. */
export const tiers = [0, 1, 2, 3] as const;
type Tier = (typeof tiers)[number];

export interface Step {
  readonly step: string;
  readonly phase: Phase;
  readonly shared: Met['shared'];
  /** Each machine does it; repetitions, and what not all did that were watched, depend on what else goes on. */
  readonly always: boolean;
}

/** A machine that is stopped in a phase of its life, once or twice, and must come to the end of the phase all the same. */
export interface Case {
  readonly phase: Phase;
  readonly stops: readonly Stop[];
  /** Calls of other machines are kept off by such a stop: it comes after theirs. */
  readonly tier: Tier;
  readonly always: boolean;
}

/** Every change that some of the machines made, in the order of the first that made it. */
export function stepsIn(lives: readonly (readonly Met[])[], phase: Phase): Step[] {
  const changes = lives.map((life) => life.filter((met) => met.changes && met.status > 0));
  const byName = new Map(changes.flat().map((met) => [met.step, met]));
  return [...byName.values()].map(({ step, shared }) => ({
    step,
    phase,
    shared,
    always:
      !/\(\d+\)$/.test(step) && changes.every((life) => life.some((met) => met.step === step)),
  }));
}

/**
 * Before and after each step; then, where a cloud's answer was lost, before and after what follows: how the outcome is
 * looked for, and how it is written down. The last ones come by themselves, since many at once are looked for as one.
 */
export function casesOf(steps: readonly Step[]): Case[] {
  const once = steps.flatMap((step) => [
    caseOf(step, [{ step: step.step, side: 'before' }]),
    caseOf(step, [{ step: step.step, side: 'after' }]),
  ]);
  return [...once, ...steps.flatMap(recoveries)];
}

/** While the API server is away the clouds are not: what is kept from a machine begins with the call to either. */
export function outagesOf(steps: readonly Step[]): Case[] {
  return steps.flatMap((step) => {
    const before = caseOf(step, [{ step: step.step, side: 'before' }]);
    if (isOfCloud(step)) return [{ ...before, tier: 0 } as const]; // the call itself goes through
    return [before, caseOf(step, [{ step: step.step, side: 'after' }])];
  });
}

function recoveries(step: Step): Case[] {
  if (!isOfCloud(step) || !step.always) return [];
  const [service = ''] = step.step.split(' ');
  const lost = { step: step.step, side: 'after' } as const;
  const next = [`${service} *`, 'kubernetes: patch nodeclaims/status *'];
  return next.flatMap((name) =>
    (['before', 'after'] as const).map((side) => ({
      ...caseOf(step, [lost, { step: name, side }]),
      always: false,
    })),
  );
}

function isOfCloud({ step }: Step): boolean {
  return !step.startsWith('kubernetes:');
}

function caseOf({ phase, shared, always }: Step, stops: readonly Stop[]): Case {
  return { phase, stops, tier: tierOf(shared, stops[0]?.side), always };
}

/** What was carried out is not asked for again, so the others of the call get through; what was kept back is. */
function tierOf(shared: Step['shared'], side: Stop['side'] = 'before'): Tier {
  if (shared === 'plan') return 3;
  if (shared !== 'call') return 0;
  return side === 'after' ? 1 : 2;
}

/** As it is printed: `ec2: RunInstances, after; ec2: *, before`. */
export function told({ stops }: Pick<Case, 'stops'>): string {
  return stops.map(({ step, side }) => `${step}, ${side}`).join('; ');
}
