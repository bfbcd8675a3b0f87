import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { parse } from 'yaml';

import type { LocalProcess } from '#sandbox/processes/local-process.ts';
import type { World } from '#sandbox/world/world.ts';
import { type Deployment, isSettingOfNode } from '#scripts/image/dockerfile.ts';

const deployment = fileURLToPath(
  new URL('../../kustomize/controller/deployment.yaml', import.meta.url),
);
const main = fileURLToPath(new URL('../../controller/main.ts', import.meta.url));

/**
 * The controller as a process of its own in this world, so that it can be killed: all that the next one knows of it
 * stands in the API and in the cloud. It has the rights of its ServiceAccount, real time, and no election to win.
 *
 * @param bundles  the folder that `bundleInto` wrote, run with the Deployment's settings of Node; absent: its sources
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
      ...(bundles !== undefined && deployed()),
      ...env,
    },
  });
}

/** What the Deployment sets for Node and for its allocator. */
function deployed(): Record<string, string> {
  const { spec } = parse(readFileSync(deployment, 'utf8')) as Deployment;
  const env = spec.template.spec.containers[0]?.env ?? [];
  return Object.fromEntries(
    env.filter(({ name }) => isSettingOfNode(name)).map(({ name, value = '' }) => [name, value]),
  );
}
