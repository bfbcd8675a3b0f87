/**
 * Yes or no for each entry of a list, four to a hexadecimal digit, the first in the lowest bit: 311 sizes take 78
 * letters where their names would take 4,000.
 */
export function toHex(flags: readonly boolean[]): string {
  const digits = Array.from({ length: Math.ceil(flags.length / 4) }, (_, digit) =>
    [0, 1, 2, 3].reduce((sum, bit) => sum + (flags[digit * 4 + bit] ? 1 << bit : 0), 0),
  );
  return digits.map((digit) => digit.toString(16)).join('');
}

export function fromHex(hex: string, index: number): boolean {
  const digit = Number.parseInt(hex.charAt(index >> 2), 16);
  return ((digit >> (index & 3)) & 1) === 1;
}
