/** The peer: client-node's informer, used as its documentation shows, over the same access to the same API server. */
import { CoreV1Api, KubeConfig, makeInformer, VersionApi } from '@kubernetes/client-node';

import { measure } from './measure.ts';

const config = new KubeConfig();
config.loadFromCluster(process.env['ACCOUNT_ROOT']);
const api = config.makeApiClient(CoreV1Api);
const informer = makeInformer(config, '/api/v1/pods', () => api.listPodForAllNamespaces());
informer.on('error', (error: unknown) => {
  console.error(error);
  process.exit(1);
});

await measure({
  warm: async () => config.makeApiClient(VersionApi).getCode(),
  fill: async () => informer.start(),
  count: () => informer.list().length,
});
