import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { request } from 'undici';

import { inClusterConnection } from '#kube/client/in-cluster.ts';
import { UndiciKubeClient } from '#kube/client/undici-client.ts';
import { createLogger } from '#kube/log.ts';
import type { ControlPlane } from '#sandbox/control-plane/control-plane.ts';
import { freePort } from '#sandbox/processes/ports.ts';
import { TcpBalancer } from '#sandbox/processes/tcp-balancer.ts';
import { SecretsTold } from '#sandbox/secrets/secrets-told.ts';
import type { Tools } from '#sandbox/tools/tools.ts';
import { install } from '#sandbox/world/installation.ts';
import { milliseconds, type Clock } from '#schemas/time/clock.ts';
import { runAdmission } from '#webhook/admission.ts';
import type { Lifetimes } from '#webhook/certificate/ring.ts';
import { readSettings } from '#webhook/settings.ts';
import type { TlsListener } from '#webhook/tls-listener.ts';

import { podSecret } from './pods.ts';

const system = { namespace: 'karpenter-unikraft', name: 'karpenter-unikraft-webhook' };

/** One replica, which runs in this process with the rights of its ServiceAccount. */
export interface Replica {
  readonly port: number | undefined;
  /** The text of `/readyz`. */
  ready(): Promise<string>;
  /** Reviews that it answered at a path, from its own `/metrics`. */
  reviews(path: string): Promise<number>;
  /** Ends it as SIGTERM does. */
  stop(): Promise<void>;
}

export interface ReplicaOptions {
  readonly lifetimes?: Lifetimes;
  /** More settings. */
  readonly env?: Readonly<Record<string, string>>;
}

/** `kustomize/default` on a control plane, without its Deployments: replicas of the webhook are started one by one. */
export class InstalledWebhook {
  readonly #plane: ControlPlane;
  readonly #clock: Clock;
  readonly #balancer: TcpBalancer;
  readonly #replicas: Set<Replica>;
  readonly #secretsTold: SecretsTold;
  #account: Promise<string> | undefined;

  private constructor(
    parts: { plane: ControlPlane; clock: Clock; balancer: TcpBalancer },
    replicas: Set<Replica>,
  ) {
    this.#plane = parts.plane;
    this.#clock = parts.clock;
    this.#balancer = parts.balancer;
    this.#replicas = replicas;
    const more = { 'environment of a Pod': podSecret };
    this.#secretsTold = SecretsTold.watch({ client: parts.plane.admin, more });
  }

  static async install(plane: ControlPlane, tools: Tools, clock: Clock): Promise<InstalledWebhook> {
    const replicas = new Set<Replica>();
    const backends = () =>
      [...replicas].flatMap(({ port }) =>
        port === undefined ? [] : [{ host: '127.0.0.1', port }],
      );
    const balancer = await TcpBalancer.start(backends);
    const webhook = new InstalledWebhook({ plane, clock, balancer }, replicas);
    await webhook.apply(tools);
    return webhook;
  }

  /** Where the API server calls. */
  get port(): number {
    return this.#balancer.port;
  }

  /** As a Git tool does, now and then. */
  async apply(tools: Tools): Promise<void> {
    const options = { webhookPort: this.#balancer.port, processes: false, policies: false };
    await install(this.#plane.admin, tools, options);
  }

  async startReplica({ lifetimes, env: more = {} }: ReplicaOptions = {}): Promise<Replica> {
    const directory = await this.#directory();
    const env = this.#plane.environment(directory);
    const client = new UndiciKubeClient(await inClusterConnection({ env }));
    const [metricsPort, healthPort] = [await freePort(), await freePort()];
    const settings = readSettings({
      SYSTEM_NAMESPACE: system.namespace,
      WEBHOOK_HOSTNAMES: 'localhost',
      WEBHOOK_PORT: '0',
      METRICS_PORT: String(metricsPort),
      HEALTH_PROBE_PORT: String(healthPort),
      LISTEN_HOST: '127.0.0.1',
      SHUTDOWN_DELAY: '500ms',
      ...more,
    });
    const end = new AbortController();
    const starting = Promise.withResolvers<TlsListener>();
    const destination = { write: (line: string) => this.#secretsTold.hear('webhook', line) };
    const log = createLogger({ level: 'debug', name: 'webhook', destination });
    const shared = { client, clock: this.#clock, log, settings };
    const parts = { ...shared, ...(lifetimes && { lifetimes }) };
    const ended = runAdmission(parts, end.signal, starting.resolve);
    ended.catch(starting.reject);
    const listener = await starting.promise;
    const replica: Replica = {
      get port() {
        return listener.port;
      },
      ready: async () => page(healthPort, 'readyz'),
      reviews: async (path) => countIn(await page(metricsPort, 'metrics'), path),
      stop: async () => {
        end.abort();
        await this.#clock.sleep(milliseconds(250)); // until everybody knows that it is not ready any more
        this.#replicas.delete(replica);
        await ended;
        await client.close();
      },
    };
    this.#replicas.add(replica);
    return replica;
  }

  /** Written once: replicas that start together read it together. */
  async #directory(): Promise<string> {
    this.#account ??= this.#plane.serviceAccountDirectory(system.namespace, system.name);
    return this.#account;
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#replicas].map(async (replica) => replica.stop()));
    await this.#balancer.stop();
    try {
      await this.#secretsTold.expectNone();
    } finally {
      await this.#secretsTold.stop();
    }
  }
}

async function page(port: number, path: string): Promise<string> {
  const { body } = await request(`http://127.0.0.1:${port}/${path}`);
  return body.text();
}

function countIn(metrics: string, path: string): number {
  const series = `karpenter_unikraft_webhook_duration_seconds_count{path="${path}"`;
  return metrics
    .split('\n')
    .filter((line) => line.startsWith(series))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

/** What kubectl prints, whether it succeeds or not. */
export async function kubectl(
  { kubeconfig }: ControlPlane,
  tools: Tools,
  args: readonly string[],
  input: object = {},
): Promise<string> {
  const running = promisify(execFile)(tools.kubectl, ['--kubeconfig', kubeconfig, ...args], {
    maxBuffer: 64 * 1024 * 1024,
  });
  running.child.stdin?.end(JSON.stringify(input));
  const { stdout, stderr } = await running.catch(
    (error: { stdout: string; stderr: string }) => error,
  );
  return stdout + stderr;
}
