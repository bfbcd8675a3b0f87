import { createHash } from 'node:crypto';

import { group } from '#schemas/names.ts';

/** On every ConfigMap that holds reservations; its value is {@link poolToken} of the pool. */
export const reservationsLabel = `${group}/reservations`;
/** The pool's full name, which may be longer than a label's value may be. */
export const poolAnnotation = `${group}/reservations-of`;

/** A pool's name where only a short one fits: the first 80 bits of its SHA-256, as hex. */
export function poolToken(pool: string): string {
  return createHash('sha256').update(pool).digest('hex').slice(0, 20);
}

/** Name of the ConfigMap with the reservations of a pool. */
export function configMapName(pool: string): string {
  return `karpenter-unikraft-${poolToken(pool)}`;
}
