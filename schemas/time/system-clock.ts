import type { Clock, Duration, Instant } from './clock.ts';
import { sleepOn } from './sleep.ts';

/** Node's timers take 31 bits of milliseconds (25 days); beyond that they fire at once. */
const longestTimer = 2 ** 31 - 1;

/** The real clock: both scales are the same. */
export class SystemClock implements Clock {
  now(): Instant {
    return Date.now();
  }

  from(timestamp: string): Instant {
    return Date.parse(timestamp);
  }

  stamp(): string {
    return toTimestamp(Date.now());
  }

  async sleep(duration: Duration, signal?: AbortSignal): Promise<void> {
    await sleepOn(this, duration, signal);
  }

  after(duration: Duration, action: () => void): () => void {
    const end = Date.now() + duration;
    let timer: NodeJS.Timeout;
    const arm = (): void => {
      const left = Math.max(0, end - Date.now());
      timer = left > longestTimer ? setTimeout(arm, longestTimer) : setTimeout(action, left);
    };
    arm();
    return () => clearTimeout(timer);
  }
}

/** Real milliseconds as Kubernetes' `metav1.Time`: RFC 3339, UTC, whole seconds. */
export function toTimestamp(real: number): string {
  return `${new Date(real).toISOString().slice(0, 19)}Z`;
}
