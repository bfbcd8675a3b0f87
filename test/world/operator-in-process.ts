import { runOperator } from '#controller/operator.ts';
import { readSettings } from '#controller/settings.ts';
import type { KubeClient } from '#kube/client/client.ts';
import { inClusterConnection } from '#kube/client/in-cluster.ts';
import { UndiciKubeClient } from '#kube/client/undici-client.ts';
import { createLogger } from '#kube/log.ts';
import type { World } from '#sandbox/world/world.ts';
import type { Clock } from '#schemas/time/clock.ts';

/** What it did so far: a hot loop shows here. */
export interface Load {
  /** Requests to the API server, whether or not anybody answered. */
  readonly requests: number;
  /** Lines of its log, from level info on. */
  readonly lines: number;
}

/** A controller in the test's process, with the rights of its ServiceAccount, that can be stopped and started. */
export class OperatorInProcess {
  readonly #end = new AbortController();
  readonly #running: Promise<void>;
  readonly #client: UndiciKubeClient;
  #requests = 0;
  #lines = 0;

  readonly #hear: (line: string) => void;

  private constructor(
    client: UndiciKubeClient,
    clock: Clock,
    { env, hear }: { env: NodeJS.ProcessEnv; hear: (line: string) => void },
  ) {
    this.#client = client;
    this.#hear = hear;
    const level = process.env['LOG_LEVEL'] ? 'debug' : 'info';
    const destination = { write: (line: string) => this.#tell(line) };
    const log = createLogger({ level, name: 'controller', destination });
    const settings = readSettings(env);
    this.#running = runOperator(
      { client: counted(client, () => (this.#requests += 1)), clock, log, settings },
      this.#end.signal,
    );
    this.#running.catch(() => {}); // told by stop()
  }

  /** @param settings  beside those that the world needs */
  static async start(
    world: World,
    clock: Clock,
    settings: NodeJS.ProcessEnv = {},
  ): Promise<OperatorInProcess> {
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
      ...settings,
    };
    Object.assign(process.env, world.cloud.env); // where the AWS SDK looks
    const connection = await inClusterConnection({ env, clock });
    const client = new UndiciKubeClient(connection, { clock });
    const hear = (line: string): void => world.secretsTold.hear('controller', line);
    return new OperatorInProcess(client, clock, { env, hear });
  }

  get load(): Load {
    return { requests: this.#requests, lines: this.#lines };
  }

  #tell(line: string): void {
    this.#hear(line);
    if (!line.includes('"level":"debug"')) this.#lines += 1;
    if (process.env['LOG_LEVEL']) process.stdout.write(line);
  }

  /** Lets it end in order. @throws what made it end before */
  async stop(): Promise<void> {
    this.#end.abort(new Error('the test stops the operator'));
    await this.#running;
    await this.#client.close();
  }
}

function counted(client: KubeClient, count: () => void): KubeClient {
  return new Proxy(client, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]): unknown => {
        count();
        return Reflect.apply(member, target, args) as unknown;
      };
    },
  });
}
