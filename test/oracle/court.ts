import { join } from 'node:path';

import { ControlPlane } from '#sandbox/control-plane/control-plane.ts';
import { scheduler } from '#sandbox/control-plane/programs.ts';
import type { LocalProcess } from '#sandbox/processes/local-process.ts';
import { Run } from '#sandbox/processes/run.ts';
import type { Tools } from '#sandbox/tools/tools.ts';
import type { Clock } from '#schemas/time/clock.ts';

import { Cluster, type Scheduler } from './cluster/cluster.ts';

interface Bench {
  readonly run: Run;
  readonly plane: ControlPlane;
  readonly cluster: Cluster;
}

/** Clusters that judge side by side: each has a control plane of its own, since domains are all Nodes there are. */
export class Court {
  readonly clock: Clock;
  readonly #benches: readonly Bench[];

  private constructor(benches: readonly Bench[], clock: Clock) {
    this.clock = clock;
    this.#benches = benches;
  }

  static async open(tools: Tools, count: number, clock: Clock): Promise<Court> {
    const opened = await Promise.allSettled(
      Array.from({ length: count }, async () => open(tools, clock)),
    );
    const court = new Court(
      opened.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])),
      clock,
    );
    const failed = opened.find((one) => one.status === 'rejected');
    if (!failed) return court;
    await court.close();
    throw failed.reason;
  }

  get clusters(): readonly Cluster[] {
    return this.#benches.map(({ cluster }) => cluster);
  }

  /** Pods that had to be brought to kube-scheduler's mind. */
  get nudges(): number {
    return this.clusters.reduce((total, { nudges }) => total + nudges, 0);
  }

  /** Of Kubernetes, such as `v1.37.2`. */
  async version(): Promise<string> {
    const answer = await this.#benches[0]?.plane.admin.raw('/version');
    return (answer as { gitVersion?: string } | undefined)?.gitVersion ?? '';
  }

  async close(): Promise<void> {
    await Promise.all(
      this.#benches.map(async ({ run, plane, cluster }) => {
        cluster.stop();
        await plane.stop();
        await run.close();
      }),
    );
  }
}

async function open(tools: Tools, clock: Clock): Promise<Bench> {
  const run = await Run.open('oracle');
  try {
    const plane = await ControlPlane.start({ tools, run, audit: false });
    const cluster = await Cluster.prepare(plane.admin, clock, schedulerOf(run, tools));
    return { run, plane, cluster };
  } catch (error) {
    await run.close();
    throw error;
  }
}

/** It tells each Pod that it tries, once it was started anew. */
function schedulerOf(run: Run, tools: Tools): Scheduler {
  const name = 'kube-scheduler';
  const kubeconfig = join(run.dir, 'control-plane', 'scheduler.kubeconfig');
  const running = (): LocalProcess | undefined =>
    run.processes.find((process) => process.name === name);
  return {
    stop: async () => void (await running()?.stop()),
    start: () => void run.start({ name, command: [...scheduler(tools, kubeconfig), '--v=3'] }),
    log: async () => (await running()?.lastLines(Infinity)) ?? '',
  };
}
