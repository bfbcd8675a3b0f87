import { join } from 'node:path';

import type { KubeClient } from '#kube/client/client.ts';
/**
 * The whole small world: a real control plane, a cloud on loopback, and a host node on which the installation runs
 * as it was applied. The sandbox and the integration tests differ only in what they ask of it.
 */
import type { Logger } from '#kube/log.ts';
import { silentLogger } from '#kube/log.ts';
import type { Clock } from '#schemas/time/clock.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

import { SandboxCloud, type SandboxCloudOptions } from '../cloud/cloud.ts';
import { ControlPlane } from '../control-plane/control-plane.ts';
import { HostNode } from '../host-node/host-node.ts';
import type { Programs } from '../host-node/program.ts';
import { Run } from '../processes/run.ts';
import { TcpBalancer } from '../processes/tcp-balancer.ts';
import { SecretsTold } from '../secrets/secrets-told.ts';
import type { Tools } from '../tools/tools.ts';
import { bundleInto } from './bundles.ts';
import { install } from './installation.ts';
import { programs } from './programs.ts';

export interface WorldOptions {
  readonly tools: Tools;
  readonly log?: Logger;
  /** Controller and webhook run as their Deployments say; else whoever starts the world runs them. Default true. */
  readonly processes?: boolean;
  /** They are the bundles that the image runs, instead of the sources. Default false. */
  readonly bundles?: boolean;
  /** Each machine is a process of its own. Default true. */
  readonly machineProcesses?: boolean;
  readonly timings?: SandboxCloudOptions['timings'];
  /** Of the cloud, when it is not to run in real time. */
  readonly clock?: Clock;
  /** Instead of the usual program for an image. */
  readonly programs?: Programs;
  /** Where the webhook listens, when it is not the Deployment's. */
  readonly webhookPort?: () => number | undefined;
  /** Whether the API server itself holds to the rules. Default true. */
  readonly policies?: boolean;
  /** KubeSchedulerConfiguration, when kube-scheduler is not to run as it comes. */
  readonly schedulerConfig?: object | undefined;
}

const webhook = {
  namespace: 'karpenter-unikraft',
  labels: { 'app.kubernetes.io/name': 'karpenter-unikraft-webhook' },
  port: 10_250,
};

export class World {
  readonly run: Run;
  readonly plane: ControlPlane;
  readonly cloud: SandboxCloud;
  readonly host: HostNode;
  readonly tools: Tools;
  /** What stands in a log or an Event and never should. */
  readonly secretsTold: SecretsTold;
  readonly #balancer: TcpBalancer;

  private constructor(
    parts: Pick<World, 'run' | 'plane' | 'cloud' | 'host' | 'tools'>,
    balancer: TcpBalancer,
  ) {
    const { run, plane, cloud } = parts;
    this.secretsTold = SecretsTold.watch({
      client: plane.admin,
      dir: run.dir,
      more: cloud.secrets,
    });
    this.run = parts.run;
    this.plane = parts.plane;
    this.cloud = parts.cloud;
    this.host = parts.host;
    this.tools = parts.tools;
    this.#balancer = balancer;
  }

  /** Resolves when everything is installed; what was installed may still be starting. */
  static async start(options: WorldOptions): Promise<World> {
    const run = await Run.open('world');
    try {
      return await World.#startIn(run, options);
    } catch (error) {
      await run.close();
      throw error;
    }
  }

  static async #startIn(run: Run, options: WorldOptions): Promise<World> {
    const { tools, log = silentLogger, clock = new SystemClock(), schedulerConfig } = options;
    // In the run's folder no node_modules is found: what was left out of a bundle is missed here as in the image.
    const app = join(run.dir, 'app');
    const [plane, cloud] = await Promise.all([
      ControlPlane.start({ tools, run, schedulerConfig }),
      SandboxCloud.start({
        log,
        clock,
        ...(options.timings && { timings: options.timings }),
        ...(options.machineProcesses !== false && { run }),
      }),
      options.bundles && bundleInto(app),
    ]);
    const usual = programs({
      cloudEnv: cloud.env,
      dnsServer: cloud.dnsServer,
      helm: tools.helm,
      ...(options.bundles && { app }),
    });
    const host = await HostNode.start({
      plane,
      run,
      log,
      programs: { ...usual, ...options.programs },
    });
    const balancer = await TcpBalancer.start(() => backends(host, options));
    const parts = { run, plane, cloud, host, tools };
    const processes = options.processes !== false;
    await install(plane.admin, tools, {
      webhookPort: balancer.port,
      processes,
      policies: options.policies !== false,
    });
    return new World(parts, balancer);
  }

  /** May do everything. */
  get client(): KubeClient {
    return this.plane.admin;
  }

  /** Ends everything, clients before servers; nothing of the world stays but, if asked for, its logs. */
  async stop(options: { keepLogs?: boolean } = {}): Promise<void> {
    await this.host.stop();
    await this.secretsTold.stop();
    await this.#balancer.stop();
    await this.cloud.stop();
    await this.plane.stop();
    await this.run.close({ keep: options.keepLogs ?? false });
  }
}

function backends(host: HostNode, { webhookPort }: WorldOptions) {
  if (!webhookPort) return host.backends(webhook, webhook.port);
  const port = webhookPort();
  return port === undefined ? [] : [{ host: '127.0.0.1', port }];
}
