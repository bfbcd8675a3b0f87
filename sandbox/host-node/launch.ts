/** Starts one container's program, in words of this computer. */
import { join } from 'node:path';

import type { KubeClient } from '#kube/client/client.ts';
import type { Logger } from '#kube/log.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import type { Clock, Duration } from '#schemas/time/clock.ts';

import { describeExit } from '../processes/local-process.ts';
import type { Command } from '../processes/parent-death.ts';
import { freePort } from '../processes/ports.ts';
import type { Run } from '../processes/run.ts';
import { spokenTo } from './environment.ts';
import { CannotPrepare } from './field-ref.ts';
import type { RunnableContainer } from './pod-spec.ts';
import type { InsideProgram, LocalProgram, Program, Programs, RunningPod } from './program.ts';
import { localPath, mountsOf, translate, translateEnv, type Surroundings } from './translate.ts';

/** What all Pods of a host node share. */
export interface HostContext {
  readonly client: KubeClient;
  /** Port of the API server on 127.0.0.1. */
  readonly apiPort: number;
  readonly run: Run;
  readonly clock: Clock;
  readonly log: Logger;
  readonly programs: Programs;
}

export interface Exit {
  readonly code: number;
  /** The last words of a program that failed. */
  readonly message?: string;
}

/** A program that runs. */
export interface Launched {
  readonly ports: ReadonlyMap<number, number>;
  readonly done: Promise<Exit>;
  /** Told to end, and made to after `grace`. */
  stop(grace: Duration): Promise<Exit>;
}

/** Where Kubernetes puts the ServiceAccount's files. */
const ACCOUNT_MOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/** @throws CannotPrepare when its environment cannot be made */
export async function launch(
  pod: Live<Pod>,
  container: RunnableContainer,
  program: Program,
  volumes: ReadonlyMap<string, string>,
  context: HostContext,
): Promise<Launched> {
  const around = {
    mounts: mountsOf(container, volumes),
    ports: await portsOf(container),
  };
  const given = {
    ...hostEnvironment(pod, around, context),
    ...('command' in program ? program.env : {}),
  };
  const spoken = await spokenTo(context.client, pod, container, given);
  const told = {
    ...container,
    command: spoken.command.map((word) => translate(word, around)),
    args: spoken.args.map((word) => translate(word, around)),
  };
  const env = translateEnv(spoken.env, given, around);
  return 'command' in program
    ? startProcess(pod, told, program, env, around, context)
    : startInside(pod, told, program, env, around, context);
}

/** A free port for each that the container declares: on one computer its replicas could not all have the same. */
async function portsOf({ ports = [] }: RunnableContainer): Promise<ReadonlyMap<number, number>> {
  const declared = ports.filter(({ protocol = 'TCP' }) => protocol === 'TCP');
  const found = declared.map(
    async ({ containerPort }) => [containerPort, await freePort()] as const,
  );
  return new Map(await Promise.all(found));
}

function hostEnvironment(
  pod: Live<Pod>,
  { mounts }: Surroundings,
  { apiPort }: HostContext,
): Record<string, string> {
  const account = localPath(ACCOUNT_MOUNT, mounts);
  const temporary = localPath('/tmp', mounts);
  const hosts = hostsFile(pod.spec?.hostAliases);
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: process.env['HOME'] ?? '',
    KUBERNETES_SERVICE_HOST: '127.0.0.1',
    KUBERNETES_SERVICE_PORT: String(apiPort),
    ...(account === ACCOUNT_MOUNT ? {} : { KUBERNETES_SERVICE_ACCOUNT_DIR: account }),
    ...(temporary === '/tmp' ? {} : { TMPDIR: temporary }),
    ...(hosts === '' ? {} : { SANDBOX_HOSTS: hosts }),
  };
}

/** What a kubelet adds to the hosts file of a Pod; one computer has only one, so a program is told by its environment. */
function hostsFile(aliases: NonNullable<Pod['spec']>['hostAliases'] = []): string {
  return aliases.map(({ ip, hostnames = [] }) => [ip, ...hostnames].join(' ')).join('\n');
}

function startProcess(
  { metadata }: Live<Pod>,
  container: RunnableContainer,
  program: LocalProgram,
  env: Record<string, string>,
  { ports }: Surroundings,
  { run }: HostContext,
): Launched {
  const { command, cwd } = program;
  const words =
    typeof command === 'function' ? command(container) : [...command, ...(container.args ?? [])];
  if (!isCommand(words)) throw new CannotPrepare(`no command for image ${container.image}`);
  const name = [metadata.namespace, metadata.name, container.name].join('_');
  const process = run.start({ name, command: words, env, ...(cwd ? { cwd } : {}) });
  const done = process.exited.then(async (exit): Promise<Exit> => {
    if (exit.code === 0) return { code: 0 };
    const message = exit.error ? describeExit(exit) : await process.lastLines(10);
    return { code: exit.code ?? (exit.signal === 'SIGKILL' ? 137 : 143), message };
  });
  const stop = async (grace: Duration): Promise<Exit> => {
    await process.stop(grace);
    return done;
  };
  return { ports, done, stop };
}

function isCommand(words: readonly string[]): words is Command {
  return words.length > 0;
}

function startInside(
  pod: Live<Pod>,
  container: RunnableContainer,
  program: InsideProgram,
  env: Record<string, string>,
  { mounts, ports }: Surroundings,
  { clock }: HostContext,
): Launched {
  const stopping = new AbortController();
  const running: RunningPod = {
    pod,
    container,
    args: container.args ?? [],
    env,
    path: (path) => localPath(path, mounts),
    port: (port) => ports.get(port) ?? port,
  };
  const done = program.run(running, stopping.signal).then(
    (code): Exit => ({ code: typeof code === 'number' ? code : 0 }),
    (error: unknown): Exit =>
      stopping.signal.aborted ? { code: 143 } : { code: 1, message: String(error) },
  );
  const stop = async (grace: Duration): Promise<Exit> => {
    stopping.abort();
    const ended = new AbortController();
    const late = clock.sleep(grace, ended.signal).then((): Exit => ({ code: 137 }));
    late.catch(() => {}); // taken back once it has ended
    return Promise.race([done, late]).finally(() => ended.abort());
  };
  return { ports, done, stop };
}

/** The folder that dies with the Pod. */
export function podFolder({ run }: HostContext, pod: Live<Pod>): string {
  return join(run.dir, 'pods', pod.metadata.uid);
}
