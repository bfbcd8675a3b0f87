import type { KubeClient } from '#kube/client/client.ts';
import type { Logger } from '#kube/log.ts';
import type { EventRecorder } from '#kube/runtime/events.ts';
import type { Clock } from '#schemas/time/clock.ts';

import type { Caches } from './caches.ts';

/** What every controller is built from. */
export interface Context {
  readonly client: KubeClient;
  readonly caches: Caches;
  readonly recorder: EventRecorder;
  readonly clock: Clock;
  readonly log: Logger;
  /** The operator's own namespace: Secrets, revisions, reservations. */
  readonly namespace: string;
  /** UID of the kube-system namespace. */
  readonly clusterUid: string;
}
