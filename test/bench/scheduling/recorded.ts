import type { Case } from './cases.ts';

/**
 * What Karpenter did once with `--all`, where it takes minutes. Its speed is told beside, and nothing is held against it;
 * its answer is that of every run, so where Karpenter is stopped ours is held against that.
 */
interface Recorded {
  readonly podsPerSecond: number;
  readonly claims: number;
  /** USD per hour. */
  readonly price: number;
}

/** v1.15.0 on 2 cores. */
const once: Readonly<Record<string, Recorded>> = {
  'mix of 5000': { podsPerSecond: 186, claims: 1000, price: 1757.24 },
  'mix of 10000': { podsPerSecond: 178, claims: 2000, price: 3535.25 },
  'mix of 20000': { podsPerSecond: 173, claims: 4000, price: 7143.53 },
  '4000 with preferences': { podsPerSecond: 57, claims: 4000, price: 3776.98 },
};

export function recordedOf({ name }: Case): Recorded | undefined {
  return once[name];
}
