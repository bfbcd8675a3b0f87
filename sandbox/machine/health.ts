import type { Duration } from '#schemas/time/clock.ts';

import type { Quotas } from './user-data.ts';

export type CheckStatus = 'unknown' | 'degraded' | 'healthy';

/** How a machine comes up, and what it does wrong. */
export interface MachineScript {
  /** From power-on to the first answer. */
  readonly boot: Duration;
  /** From the first answer on, checks say `unknown` for so long, … */
  readonly unknown: Duration;
  /** … then `degraded` for so long, then `healthy`. */
  readonly degraded: Duration;
  /** `degraded`: it never gets any better than that. `mute`: it never answers at all. */
  readonly health: 'healthy' | 'degraded' | 'mute';
  /** It stops answering so long after power-on, though its instance still runs. */
  readonly diesAfter?: Duration | undefined;
  /** What its platform allows whatever its user data says, as an image with other needs of its own would. */
  readonly quotas?: Partial<Quotas> | undefined;
}

/**
 * GET /v1/healthz at `age` after the first answer. The images check comes up before the other, as agents start
 * before what they serve is there.
 */
export function checksAt(
  age: Duration,
  { unknown, degraded, health }: MachineScript,
): Record<string, CheckStatus> {
  const steps: CheckStatus[] = [
    'unknown',
    'degraded',
    health === 'degraded' ? 'degraded' : 'healthy',
  ];
  const systemd = steps[Number(age >= unknown) + Number(age >= unknown + degraded)]!;
  return { images: age >= unknown ? 'healthy' : 'unknown', systemd };
}
