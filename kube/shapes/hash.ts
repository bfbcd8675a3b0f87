const prime = 0x01000193;

/** 32 bits that are alike for equal bytes (FNV-1a, by four bytes at a time). */
export function hashOf(bytes: Buffer, from: number, to: number): number {
  let hash = to - from;
  let i = from;
  for (; i + 3 < to; i += 4) {
    const low = (bytes[i] ?? 0) | ((bytes[i + 1] ?? 0) << 8);
    const high = (bytes[i + 2] ?? 0) | ((bytes[i + 3] ?? 0) << 8);
    hash = Math.imul(hash ^ low ^ (high << 16), prime);
    hash ^= hash >>> 15; // the high bytes would not reach the low bits else
  }
  for (; i < to; i++) hash = Math.imul(hash ^ (bytes[i] ?? 0), prime);
  return hash ^ (hash >>> 15);
}
