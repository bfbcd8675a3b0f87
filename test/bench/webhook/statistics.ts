/** The arithmetic of the bench, apart from what it measures. */

/** @param share in [0, 1] @param values not empty; the nearest rank counts */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const rank = Math.max(1, Math.ceil(share * sorted.length));
  return sorted[rank - 1] ?? Number.NaN;
}

export const median = (values: readonly number[]): number => percentile(values, 0.5);

export const arms = ['none', 'go', 'ours'] as const;
export type Arm = (typeof arms)[number];

/** Milliseconds that each Pod took, by what was called for it, measured within seconds of each other. */
export type Slice = Readonly<Record<Arm, readonly number[]>>;

/** A slice in which the computer was busy with something else says nothing: its own base is all over the place. */
export function isValid({ none }: Slice): boolean {
  return percentile(none, 0.99) <= 3 * median(none);
}

export interface Added {
  /** Milliseconds at this percentile, more than without any webhook; the median over the slices. */
  readonly go: number;
  readonly ours: number;
  readonly ratio: number;
}

export function added(slices: readonly Slice[], share: number): Added {
  const more = (arm: Arm): number =>
    median(slices.map((slice) => percentile(slice[arm], share) - percentile(slice.none, share)));
  const [go, ours] = [more('go'), more('ours')];
  return { go, ours, ratio: ours / go };
}

export interface Bar {
  readonly what: string;
  readonly measured: number;
  readonly unit: string;
  readonly bar: number;
  readonly ok: boolean;
}

/** A bar that is an upper bound. */
export function atMost(what: string, measured: number, bar: number, unit = ''): Bar {
  return { what, measured: rounded(measured), unit, bar, ok: measured <= bar };
}

/** A bar that is a lower bound. */
export function atLeast(what: string, measured: number, bar: number, unit = ''): Bar {
  return { what, measured: rounded(measured), unit, bar, ok: measured >= bar };
}

export function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
