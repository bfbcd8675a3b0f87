import { runOperator } from '#controller/operator.ts';
import { readSettings } from '#controller/settings.ts';
import { inClusterConnection } from '#kube/client/in-cluster.ts';
import { UndiciKubeClient } from '#kube/client/undici-client.ts';
import { createLogger, silentLogger } from '#kube/log.ts';
import type { World } from '#sandbox/world/world.ts';
import type { Clock } from '#schemas/time/clock.ts';

/** A controller in the test's process, with the rights of its ServiceAccount, that can be stopped and started. */
export class OperatorInProcess {
  readonly #end = new AbortController();
  readonly #running: Promise<void>;
  readonly #client: UndiciKubeClient;

  private constructor(client: UndiciKubeClient, clock: Clock, env: NodeJS.ProcessEnv) {
    this.#client = client;
    const log = process.env['LOG_LEVEL']
      ? createLogger({ level: 'debug', name: 'controller' })
      : silentLogger;
    const settings = readSettings(env);
    this.#running = runOperator({ client, clock, log, settings }, this.#end.signal);
    this.#running.catch(() => {}); // told by stop()
  }

  static async start(world: World, clock: Clock): Promise<OperatorInProcess> {
    const account = ['karpenter-unikraft', 'karpenter-unikraft-controller'] as const;
    const directory = await world.plane.serviceAccountDirectory(...account);
    const env = {
      ...world.plane.environment(directory),
      DNS_SERVERS: world.cloud.dnsServer,
      HELM: world.tools.helm,
      LISTEN_HOST: '127.0.0.1',
      METRICS_PORT: '0',
      HEALTH_PROBE_PORT: '0',
      DISABLE_LEADER_ELECTION: 'true',
      BATCH_IDLE_DURATION: '500ms',
      PATH: process.env['PATH'],
    };
    Object.assign(process.env, world.cloud.env); // where the AWS SDK looks
    const connection = await inClusterConnection({ env, clock });
    return new OperatorInProcess(new UndiciKubeClient(connection, { clock }), clock, env);
  }

  /** Lets it end in order. @throws what made it end before */
  async stop(): Promise<void> {
    this.#end.abort(new Error('the test stops the operator'));
    await this.#running;
    await this.#client.close();
  }
}
