import { createHash } from 'node:crypto';

import { group } from '#schemas/names.ts';

/** The scope that all machines of the cluster are in. No pool has this name. */
export const wholeCluster = '*';

/** On every ConfigMap that holds reservations; its value is {@link poolToken} of the pool, or `cluster`. */
export const reservationsLabel = `${group}/reservations`;
/** The pool's full name, which may be longer than a label's value may be; or {@link wholeCluster}. */
export const poolAnnotation = `${group}/reservations-of`;

/** A scope where only a short name fits: the first 80 bits of the pool's SHA-256, as hex, or `cluster`. */
export function poolToken(pool: string): string {
  if (pool === wholeCluster) return 'cluster';
  return createHash('sha256').update(pool).digest('hex').slice(0, 20);
}

/** Name of the ConfigMap with the reservations of a scope. */
export function configMapName(pool: string): string {
  return `karpenter-unikraft-${poolToken(pool)}`;
}
