/** Numbers that look random and are the same each time. */
export interface Random {
  /** From 0 up to, not including, 1. */
  next(): number;
  of<T>(list: readonly [T, ...T[]] | readonly T[]): T;
}

/** Marsaglia's xorshift, 32 bits. */
export function randomFrom(seed: number): Random {
  let state = seed || 1;
  const next = (): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  return { next, of: (list) => list[Math.floor(next() * list.length)]! };
}
