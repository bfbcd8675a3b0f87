import type { Code } from '#schemas/errors/codes.ts';

/**
 * A cloud's own code as the reason of a condition: `InvalidSubnetID.NotFound` becomes `InvalidSubnetIDNotFound`.
 * The schemas of conditions take letters, digits and `_,:` alone, and one bad reason would have the whole status
 * refused.
 *
 * Source: Karpenter's CRDs, pattern `^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`.
 */
export function asReason(code: string): string {
  const cleaned = code
    .replace(/[^A-Za-z0-9_,:]/g, '')
    .slice(0, 128)
    .replace(/^[^A-Za-z]+/, '')
    .replace(/[,:]+$/, '');
  return cleaned === '' ? 'Unknown' : cleaned;
}

/** A sentence and its code, in the one form that people read everywhere: `No subnet matches tags team=x (KPU230)`. */
export function coded(sentence: string, code: Code): string {
  return `${sentence.replace(/\.+$/, '')} (${code})`;
}
