/** Milliseconds since 1970 on the clock that is in use, which tests may move. */
export type Instant = number;
/** Milliseconds. */
export type Duration = number;

/**
 * Where all code gets its time from, so that a test moves time instead of waiting.
 *
 * A clock that jumps has two scales: the real one that API timestamps are written in, and its own. Timestamps
 * cross only through {@link Clock.from} and {@link Clock.stamp}: otherwise every object made before a jump
 * would be past its deadlines after it.
 */
export interface Clock {
  /** The present instant on this clock. */
  now(): Instant;
  /** This clock's instant at which the real `timestamp` (RFC 3339) lay; NaN when it cannot be read. */
  from(timestamp: string): Instant;
  /** The real time as Kubernetes writes it, to the second: `2026-11-30T09:12:53Z`. */
  stamp(): string;
  /** Resolves after `duration` on this clock; rejects with the signal's reason when it aborts first. */
  sleep(duration: Duration, signal?: AbortSignal): Promise<void>;
  /** Calls `action` once after `duration` on this clock; the returned function takes it back. */
  after(duration: Duration, action: () => void): () => void;
}

export const milliseconds = (count: number): Duration => count;
export const seconds = (count: number): Duration => count * 1000;
export const minutes = (count: number): Duration => count * 60_000;
export const hours = (count: number): Duration => count * 3_600_000;
