import type { Taint, Toleration } from '#schemas/kubernetes/core.ts';

import { toInteger } from './integer.ts';

/**
 * The first taint that keeps a Pod off, or undefined. PreferNoSchedule only makes a node less wanted, so it keeps
 * nobody off, unless wishes are held too.
 */
export function untolerated(
  taints: readonly Taint[],
  tolerations: readonly Toleration[] | undefined,
  { wishes = false }: { readonly wishes?: boolean } = {},
): Taint | undefined {
  return taints.find(
    (taint) =>
      (wishes || taint.effect !== 'PreferNoSchedule') &&
      !tolerations?.some((toleration) => tolerates(toleration, taint)),
  );
}

/**
 * Whether one toleration covers one taint. Gt and Lt compare whole numbers: the taint's value with the toleration's.
 *
 * Source: k8s.io/component-helpers v0.37, scheduling/corev1/helpers.go; KEP-5471 for the numbers.
 */
export function tolerates(toleration: Toleration, taint: Taint): boolean {
  const { key = '', effect } = toleration;
  if (effect && effect !== taint.effect) return false;
  if (key === '') return toleration.operator === 'Exists';
  return key === taint.key && covers(toleration, taint.value ?? '');
}

function covers({ operator = 'Equal', value = '' }: Toleration, taint: string): boolean {
  switch (operator) {
    case 'Exists':
      return true;
    case 'Equal':
      return value === taint;
    case 'Gt':
      return compare(taint, value, (a, b) => a > b);
    case 'Lt':
      return compare(taint, value, (a, b) => a < b);
  }
}

/** `key=value:effect`, as kubectl writes it. */
export function taintText({ key, value, effect }: Taint): string {
  return `${key}${value === undefined ? '' : `=${value}`}:${effect}`;
}

function compare(
  taint: string,
  toleration: string,
  holds: (a: bigint, b: bigint) => boolean,
): boolean {
  const [a, b] = [toInteger(taint), toInteger(toleration)];
  return a !== undefined && b !== undefined && holds(a, b);
}
