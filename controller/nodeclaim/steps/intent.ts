import type { Candidate } from '#machine/machine.ts';
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import { annotations } from '#schemas/names.ts';
import type { MachineCap } from '#schemas/quotapolicy/ceilings.ts';

/**
 * The launch intent: which try is about to be made, written to the NodeClaim before the cloud is called. Whoever
 * finds it after a crash repeats exactly this call, or adopts what it made.
 */
export interface Intent extends Candidate {
  /** Real time (RFC 3339) of the writing, for people. */
  readonly since: string;
  /**
   * The most that quota policies allowed the machine when the try was decided on. They may say something else by the
   * time of a repetition, and another user data would be another launch.
   */
  readonly cap?: MachineCap;
}

/** The intent on a claim; undefined when there is none, or when what is there cannot be read. */
export function intentOf(claim: NodeClaim): Intent | undefined {
  const text = claim.metadata?.annotations?.[annotations.intent];
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isIntent(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Fields in a fixed order, so that equal intents are equal texts. */
export function intentText(intent: Intent): string {
  const { attempt, instanceType, zone, subnet, metal, since, cap = {} } = intent;
  const { vcpus, memoryMiB, volumeStorageMiB, instances } = cap;
  const isCapped = Object.keys(cap).length > 0;
  return JSON.stringify({
    attempt,
    instanceType,
    zone,
    subnet,
    metal,
    since,
    ...(isCapped && { cap: { vcpus, memoryMiB, volumeStorageMiB, instances } }),
  });
}

function isIntent(value: unknown): value is Intent {
  if (typeof value !== 'object' || value === null) return false;
  const fields = value as Record<string, unknown>;
  const { attempt, instanceType, zone, subnet, metal, since, cap = {} } = fields;
  return (
    Number.isSafeInteger(attempt) &&
    Number(attempt) >= 1 &&
    [instanceType, zone, subnet].every((text) => typeof text === 'string' && text !== '') &&
    typeof since === 'string' &&
    !Number.isNaN(Date.parse(since)) &&
    typeof metal === 'boolean' &&
    isCap(cap)
  );
}

function isCap(value: unknown): boolean {
  return (
    typeof value === 'object' && value !== null && Object.values(value).every(Number.isSafeInteger)
  );
}
