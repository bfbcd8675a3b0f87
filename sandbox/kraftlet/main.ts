/** Kraftlet's stand-in as a process: settings from the environment, the API server by the Pod's ServiceAccount. */
import { inClusterConnection } from '#kube/client/in-cluster.ts';
import { UndiciKubeClient } from '#kube/client/undici-client.ts';
import { createLogger } from '#kube/log.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

import { Kraftlet } from './kraftlet.ts';
import { readSettings } from './settings.ts';

const log = createLogger({ level: 'info', name: 'kraftlet' });
const clock = new SystemClock();
const client = new UndiciKubeClient(await inClusterConnection(), {
  clock,
  log,
  fieldManager: 'kraftlet',
});
const stop = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort());
await new Kraftlet({ settings: readSettings(process.env), client, clock, log }).run(stop.signal);
process.exit(0);
