/** 64 bits with a sign. */
const [least, most] = [-(2n ** 63n), 2n ** 63n - 1n];

/**
 * A whole number as Go reads one of 64 bits: kube-scheduler compares labels and taints so, and what it cannot read
 * is neither more nor less than anything.
 *
 * @returns undefined for what is no such number
 * Source: Go's strconv.ParseInt with base 10, as k8s.io/apimachinery v0.37, pkg/labels/selector.go, calls it.
 */
export function toInteger(text: string): bigint | undefined {
  const [, sign, digits] = /^([+-]?)(\d+)$/.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const number = sign === '-' ? -BigInt(digits) : BigInt(digits);
  return number >= least && number <= most ? number : undefined;
}
