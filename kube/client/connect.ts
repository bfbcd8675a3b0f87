import type { Clock } from '#schemas/time/clock.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

import type { Connection } from './connection.ts';
import { inClusterConnection, isInCluster } from './in-cluster.ts';
import { kubeconfigConnection } from './kubeconfig.ts';

export interface ConnectOptions {
  /** Path of a kubeconfig; wins over all else. */
  readonly kubeconfig?: string | undefined;
  readonly env?: NodeJS.ProcessEnv;
  readonly clock?: Clock;
}

/**
 * The way to the API server that a program in this place would take: the named kubeconfig, else the Pod's own
 * ServiceAccount, else `KUBECONFIG` or `~/.kube/config`.
 *
 * @throws ConnectionSetupError when none can be read
 */
export async function connect(options: ConnectOptions = {}): Promise<Connection> {
  const { kubeconfig, env = process.env, clock = new SystemClock() } = options;
  if (kubeconfig === undefined && (await isInCluster({ env }))) {
    return inClusterConnection({ env, clock });
  }
  return kubeconfigConnection(kubeconfig, { env, clock });
}
