/** Texts of CEL that several rules are made from. Every piece keeps to the subset of subset.ts. */

/** An expression that was broken over lines for reading, on one line. */
export function oneLine(expression: string): string {
  return expression.replaceAll(/\s+/g, ' ').trim();
}

/** `['a', 'b']`. */
export function listOf(values: readonly string[]): string {
  return `[${values.map((value) => `'${value}'`).join(', ')}]`;
}

/**
 * Whether the requirement `self` leaves at least one of the values that machines have. Gt, Lt and their like leave none
 * of words, and DoesNotExist leaves none of anything, so only these three can. Values beside Exists are passed over by
 * Karpenter, but whoever writes them means them.
 */
export function leavesOneOf(values: readonly string[], requirement = 'self'): string {
  const { operator, given } = {
    operator: `${requirement}.operator`,
    given: `${requirement}.values`,
  };
  const known = listOf(values);
  return oneLine(`(
    ${operator} == 'In' ? has(${given}) && ${given}.exists(v, v in ${known}) :
    ${operator} == 'NotIn' ? !has(${given}) || ${known}.exists(v, !(v in ${given})) :
    ${operator} == 'Exists' && (!has(${given}) || size(${given}) == 0 || ${given}.exists(v, v in ${known})))`);
}

/** Whether a field of `self` is as it was: as absent, or as equal. */
export function unchanged(field: string): string {
  return oneLine(`has(self.${field}) == has(oldSelf.${field})
    && (!has(self.${field}) || self.${field} == oldSelf.${field})`);
}

/** A duration that is no time at all, such as 0s or 0h0m. */
export const noTime = "self.matches('^(0+[smh])+$')";
