import type { KubeObject } from '#schemas/kubernetes/meta.ts';
import type { Duration } from '#schemas/time/clock.ts';

/** One thing that happened to one object, as `kubectl describe` shows it. */
export interface EventNote {
  readonly object: KubeObject;
  readonly type: 'Normal' | 'Warning';
  /** UpperCamelCase; upstream's reasons where they mean the same. */
  readonly reason: string;
  readonly message: string;
  /** Same object, reason and these values within `dedupeTimeout` make one event; default: the message. */
  readonly dedupeValues?: readonly string[];
  /** Default 2 minutes. */
  readonly dedupeTimeout?: Duration;
}

export interface EventRecorder {
  /** Never throws and never waits for the API server. */
  record(note: EventNote): void;
}
