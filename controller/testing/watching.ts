import type { WatchEvent, WatchOptions } from '#kube/client/client.ts';
import type { KubeObject, Live } from '#schemas/kubernetes/meta.ts';
import { apiVersionOf, type Resource } from '#schemas/kubernetes/resource.ts';

import { selects } from './selecting.ts';

/** One thing that happened to one object; the object is frozen. */
export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly resource: Resource;
  readonly object: Live<KubeObject>;
}

/** Changes from now on, after the present objects and their closing bookmark where asked for; ends with the signal. */
export async function* watchOf<T extends KubeObject>(
  resource: Resource<T>,
  options: WatchOptions,
  present: readonly Live<T>[],
  version: string,
  subscribe: (listener: (change: Change) => void) => () => void,
): AsyncGenerator<WatchEvent<Live<T>>> {
  const queue: WatchEvent<Live<T>>[] = present
    .filter((object) => selects(options, object))
    .map((object) => ({ type: 'ADDED', object }));
  if (options.sendInitialEvents === true) queue.push(initialEventsEnd(resource, version));
  let wake = Promise.withResolvers<void>();
  const stop = subscribe((change) => {
    if (change.resource.plural !== resource.plural || !selects(options, change.object)) return;
    queue.push({ type: change.type, object: change.object as Live<T> });
    wake.resolve();
  });
  const end = (): void => wake.resolve();
  options.signal?.addEventListener('abort', end);
  try {
    while (options.signal?.aborted !== true) {
      const event = queue.shift();
      if (event) {
        yield event;
        continue;
      }
      // oxlint-disable-next-line no-await-in-loop -- one event after the other is what a watch is
      await wake.promise;
      wake = Promise.withResolvers();
    }
  } finally {
    stop();
    options.signal?.removeEventListener('abort', end);
  }
}

function initialEventsEnd<T extends KubeObject>(
  resource: Resource<T>,
  resourceVersion: string,
): WatchEvent<Live<T>> {
  const annotations = { 'k8s.io/initial-events-end': 'true' };
  const object = {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: { resourceVersion, annotations },
  };
  return { type: 'BOOKMARK', object };
}
