import { fileURLToPath } from 'node:url';

import type { LocalProcess } from '#sandbox/processes/local-process.ts';
import type { World } from '#sandbox/world/world.ts';

const main = fileURLToPath(new URL('../../controller/main.ts', import.meta.url));

/**
 * The controller as a process of its own in this world, so that it can be killed: all that the next one knows of it
 * stands in the API and in the cloud. It has the rights of its ServiceAccount, real time, and no election to win.
 *
 * @param bundles  the folder that `bundleInto` wrote; absent: it is run from its sources
 */
export async function startOperatorProcess(
  world: World,
  env: Readonly<Record<string, string>> = {},
  bundles?: string,
): Promise<LocalProcess> {
  const account = ['karpenter-unikraft', 'karpenter-unikraft-controller'] as const;
  const directory = await world.plane.serviceAccountDirectory(...account);
  return world.run.start({
    name: 'controller',
    command: [process.execPath, bundles === undefined ? main : 'controller/main.js'],
    ...(bundles !== undefined && { cwd: bundles }),
    env: {
      ...world.plane.environment(directory),
      ...world.cloud.env,
      DNS_SERVERS: world.cloud.dnsServer,
      HELM: world.tools.helm,
      LISTEN_HOST: '127.0.0.1',
      METRICS_PORT: '0',
      HEALTH_PROBE_PORT: '0',
      DISABLE_LEADER_ELECTION: 'true',
      PATH: process.env['PATH'],
      ...env,
    },
  });
}
