/**
 * A real Kubernetes control plane on loopback: etcd, API server, scheduler and controller manager as processes of
 * a run. No kubelet: Nodes are what others make of them.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { Agent, request } from 'undici';

import type { UndiciKubeClient } from '#kube/client/undici-client.ts';
import { serviceAccounts } from '#schemas/kubernetes/resource.ts';
import { milliseconds, type Clock } from '#schemas/time/clock.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

import type { LocalProcess } from '../processes/local-process.ts';
import { freePort, withFreePort } from '../processes/ports.ts';
import { untilReady } from '../processes/ready.ts';
import type { Run } from '../processes/run.ts';
import type { Tools } from '../tools/tools.ts';
import { tokenClient } from './admin.ts';
import { AUDIT_POLICY, readAudit, type AuditEntry } from './audit.ts';
import { kubeconfig, makeCredentials, type Credentials, type UserName } from './credentials.ts';
import * as programs from './programs.ts';
import { requestToken, writeServiceAccountFiles } from './service-account.ts';

export interface ControlPlaneOptions {
  readonly tools: Tools;
  /** Owns the processes and the folder; closing it stops the control plane too. */
  readonly run: Run;
  readonly clock?: Clock;
  /** Keep an audit log, for {@link ControlPlane.audit}. Default true. */
  readonly audit?: boolean;
  /** KubeSchedulerConfiguration, when the scheduler is not to run as it comes. */
  readonly schedulerConfig?: object | undefined;
}

export class ControlPlane {
  /** `https://127.0.0.1:PORT`. */
  readonly server: string;
  readonly port: number;
  /** The API server's CA, PEM. */
  readonly caPem: string;
  /** Path of a kubeconfig that may do everything. */
  readonly kubeconfig: string;
  /** May do everything. */
  readonly admin: UndiciKubeClient;
  readonly #start: Started;
  readonly #etcd: LocalProcess;
  /** Controller manager and scheduler. */
  #clients: readonly LocalProcess[];
  #apiServer: LocalProcess;

  private constructor(started: Started, others: Others, config: string) {
    this.#start = started;
    this.#etcd = others.etcd;
    this.#clients = others.clients;
    this.#apiServer = started.apiServer;
    this.port = started.port;
    this.server = `https://127.0.0.1:${started.port}`;
    this.caPem = started.credentials.caPem;
    this.kubeconfig = config;
    this.admin = tokenClient({
      server: this.server,
      caPem: this.caPem,
      token: started.credentials.tokens.admin,
    });
  }

  /**
   * Resolves once Pods can be created in namespace `default`, three to five seconds later.
   *
   * @throws NotReady with the end of the log of the program that did not come up
   */
  static async start(options: ControlPlaneOptions): Promise<ControlPlane> {
    const { tools, run, clock = new SystemClock() } = options;
    const dir = join(run.dir, 'control-plane');
    await mkdir(dir);
    const credentials = await makeCredentials(join(dir, 'pki'), clock);
    const etcd = await startEtcd(tools, run, clock);
    const audit = options.audit === false ? undefined : await auditFiles(dir);
    const context: Context = {
      tools,
      run,
      clock,
      dir,
      credentials,
      etcdPort: etcd.port,
      ...(audit ? { audit } : {}),
      schedulerConfig: options.schedulerConfig,
    };
    const server = await withFreePort((port) => startApiServer(context, port));
    const started = { ...context, port: server.port, apiServer: server.process };
    const clients = await startClients(started);
    const config = await writeKubeconfig(started, 'admin');
    const plane = new ControlPlane(started, { etcd: etcd.process, clients }, config);
    await untilReady(clients[0], () => plane.#hasDefaultAccount(), { clock });
    return plane;
  }

  /** Ends the API server, as an outage does: clients find nobody at its port. */
  async pauseApiServer(): Promise<void> {
    await this.#apiServer.stop();
  }

  /**
   * Starts the API server again at the same port, and resolves once it answers. Controller manager and scheduler start
   * anew: in a cluster they end when an outage costs them their leases.
   */
  async resumeApiServer(): Promise<void> {
    if (!this.#apiServer.exit) return;
    this.#apiServer = (await startApiServer(this.#start, this.port)).process;
    await Promise.all(this.#clients.map((process) => process.stop()));
    this.#clients = await startClients(this.#start);
  }

  /** Ends all its processes, clients first. */
  async stop(): Promise<void> {
    await this.admin.close();
    await Promise.all(this.#clients.map((process) => process.stop()));
    await this.#apiServer.stop();
    await this.#etcd.stop();
  }

  /** Requests answered until now, oldest first. */
  async audit(): Promise<AuditEntry[]> {
    const file = this.#start.audit?.log;
    if (!file) throw new Error('the control plane was started without an audit log');
    return readAudit(file);
  }

  /**
   * Lets a process on this computer be a ServiceAccount as a Pod would be: a folder with token, ca.crt and
   * namespace. Give the process {@link ControlPlane.environment} of the folder.
   *
   * @throws ApiError when there is no such ServiceAccount
   */
  async serviceAccountDirectory(namespace: string, name: string): Promise<string> {
    const folder = join(this.#start.dir, 'service-accounts', namespace, name);
    const token = await requestToken(this.admin, { namespace, name });
    await writeServiceAccountFiles(folder, { token, caPem: this.caPem, namespace });
    return folder;
  }

  /** What in-cluster access reads, with the folder of {@link ControlPlane.serviceAccountDirectory}. */
  environment(serviceAccountDirectory: string): Record<string, string> {
    return {
      KUBERNETES_SERVICE_HOST: '127.0.0.1',
      KUBERNETES_SERVICE_PORT: String(this.port),
      KUBERNETES_SERVICE_ACCOUNT_DIR: serviceAccountDirectory,
    };
  }

  /** Without its default ServiceAccount a namespace refuses Pods; that it exists shows the controllers work. */
  async #hasDefaultAccount(): Promise<boolean> {
    await this.admin.get(serviceAccounts, { namespace: 'default', name: 'default' });
    return true;
  }
}

interface Others {
  readonly etcd: LocalProcess;
  readonly clients: readonly LocalProcess[];
}

interface Context {
  readonly tools: Tools;
  readonly run: Run;
  readonly clock: Clock;
  readonly dir: string;
  readonly credentials: Credentials;
  readonly etcdPort: number;
  readonly audit?: { readonly policy: string; readonly log: string };
  readonly schedulerConfig: object | undefined;
}

interface Started extends Context {
  readonly port: number;
  readonly apiServer: LocalProcess;
}

/** Told to end, an API server waits for its watchers to go, and they stay: nothing is lost by not waiting. */
const SHORT = milliseconds(300);

interface Serving {
  readonly port: number;
  readonly process: LocalProcess;
}

/** @returns with the port for clients */
async function startEtcd(tools: Tools, run: Run, clock: Clock): Promise<Serving> {
  return withFreePort(async (port) => {
    const peer = await freePort();
    const command = programs.etcd(tools, join(run.dir, `etcd-${port}`), { client: port, peer });
    const process = run.start({ name: `etcd-${port}`, command });
    const isReady = async (): Promise<boolean> =>
      (await process.lastLines(200)).includes(programs.ETCD_READY);
    await untilReady(process, isReady, { clock });
    return { port, process };
  });
}

async function startApiServer(context: Context, port: number): Promise<Serving> {
  const { tools, run, clock, credentials } = context;
  const command = programs.apiServer(tools, { ...context, port });
  const process = run.start({ name: `kube-apiserver-${port}`, command, grace: SHORT });
  const agent = new Agent({ connect: { ca: credentials.caPem } });
  const isReady = async (): Promise<boolean> => {
    const url = `https://127.0.0.1:${port}/readyz`;
    const { statusCode, body } = await request(url, { dispatcher: agent });
    await body.dump();
    return statusCode === 200;
  };
  try {
    await untilReady(process, isReady, { clock });
    return { port, process };
  } finally {
    await agent.destroy();
  }
}

async function startClients(started: Started): Promise<[LocalProcess, LocalProcess]> {
  const { tools, run, dir, credentials, schedulerConfig } = started;
  const manager = await writeKubeconfig(started, 'controllerManager');
  const scheduler = await writeKubeconfig(started, 'scheduler');
  const config = schedulerConfig && join(dir, 'scheduler.json');
  if (config !== undefined)
    await writeFile(config, programs.schedulerConfig(scheduler, schedulerConfig ?? {}));
  return [
    run.start({
      name: 'kube-controller-manager',
      command: programs.controllerManager(tools, manager, credentials),
    }),
    run.start({ name: 'kube-scheduler', command: programs.scheduler(tools, scheduler, config) }),
  ];
}

async function auditFiles(dir: string): Promise<{ policy: string; log: string }> {
  const policy = join(dir, 'audit-policy.json');
  await writeFile(policy, JSON.stringify(AUDIT_POLICY));
  return { policy, log: join(dir, 'audit.log') };
}

async function writeKubeconfig(
  { dir, port, credentials }: Started,
  user: UserName,
): Promise<string> {
  const path = join(dir, `${user}.kubeconfig`);
  const text = kubeconfig(`https://127.0.0.1:${port}`, credentials.caPem, credentials.tokens[user]);
  await writeFile(path, text, { mode: 0o600 });
  return path;
}
