import type { Duration } from './clock.ts';

/** The text is no duration. */
export class InvalidDuration extends Error {
  readonly text: string;

  constructor(text: string) {
    super(`"${text.slice(0, 80)}" is no duration. Write it like 30s, 1h30m or 720h, or Never.`);
    this.name = 'InvalidDuration';
    this.text = text;
  }
}

const unitMilliseconds: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

const whole = /^(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+$/;
const piece = /(?<count>\d+(?:\.\d+)?)(?<unit>ns|us|µs|ms|s|m|h)/g;

/**
 * Go's durations as Kubernetes writes them, `1h30m`, `720h`, `0`, and Karpenter's `Never`, which is Infinity.
 * There is no negative one: nothing here could use it. A text may be as long as Karpenter's schema lets it be, which
 * is any length.
 *
 * @throws InvalidDuration
 */
export function parseDuration(text: string): Duration {
  if (text === 'Never') return Infinity;
  if (text === '0') return 0;
  if (!whole.test(text)) throw new InvalidDuration(text);
  return [...text.matchAll(piece)].reduce(
    (sum, { groups }) =>
      sum + Number(groups?.['count']) * (unitMilliseconds[groups?.['unit'] ?? ''] ?? 0),
    0,
  );
}
