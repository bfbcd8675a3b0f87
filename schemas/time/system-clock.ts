import { setTimeout as sleep } from 'node:timers/promises';

import type { Clock, Duration, Instant } from './clock.ts';

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
    signal?.throwIfAborted();
    await sleep(duration, undefined, signal ? { signal } : {}).catch((error: unknown) => {
      signal?.throwIfAborted();
      throw error;
    });
  }

  after(duration: Duration, action: () => void): () => void {
    const timer = setTimeout(action, duration);
    return () => clearTimeout(timer);
  }
}

/** Real milliseconds as Kubernetes' `metav1.Time`: RFC 3339, UTC, whole seconds. */
export function toTimestamp(real: number): string {
  return `${new Date(real).toISOString().slice(0, 19)}Z`;
}
