/** Fills the controller's own cache of Pods, as the controller makes it, from the API server that the environment names. */
import { informers } from '#controller/informers.ts';
import { inClusterConnection } from '#kube/client/in-cluster.ts';
import { UndiciKubeClient } from '#kube/client/undici-client.ts';
import { silentLogger } from '#kube/log.ts';
import { Metrics } from '#kube/metrics.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

import { measure } from './measure.ts';

const clock = new SystemClock();
const client = new UndiciKubeClient(await inClusterConnection({ clock }), { clock });
const { pods } = informers({
  client,
  clock,
  log: silentLogger,
  metrics: new Metrics(),
  namespace: 'karpenter-unikraft',
  pricesConfigMap: 'prices',
});
const { signal } = new AbortController();

await measure({
  warm: async () => client.raw('/version'),
  fill: async () => {
    void pods.run(signal);
    await pods.whenSynced(signal);
  },
  count: () => pods.list().length,
});
