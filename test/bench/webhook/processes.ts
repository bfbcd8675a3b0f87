import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { request } from 'undici';

import { Authority } from '#pki/authority.ts';
import type { ControlPlane } from '#sandbox/control-plane/control-plane.ts';
import { render, type Manifest } from '#sandbox/manifests/render.ts';
import { cacheRoot } from '#sandbox/processes/cache-root.ts';
import type { LocalProcess } from '#sandbox/processes/local-process.ts';
import { freePort } from '#sandbox/processes/ports.ts';
import { untilReady } from '#sandbox/processes/ready.ts';
import type { Run } from '#sandbox/processes/run.ts';
import { goOrThrow } from '#sandbox/tools/go.ts';
import type { Tools } from '#sandbox/tools/tools.ts';
import { bundleInto } from '#sandbox/world/bundles.ts';
import type { Container } from '#schemas/kubernetes/core.ts';
import { hours, type Clock } from '#schemas/time/clock.ts';
import { isSettingOfNode } from '#scripts/image/dockerfile.ts';

import { callInTurn, type Target } from './caller.ts';
import { callWith } from './reviews.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const here = fileURLToPath(new URL('.', import.meta.url));

/** A server that can be called and watched. */
export interface Server extends Target {
  readonly process: LocalProcess;
}

/** As the image has it. */
export async function build(): Promise<void> {
  await bundleInto(`${root}dist`);
}

/** The webhook of `dist/`, with the rights of its ServiceAccount; its CA is read from the API server. */
export async function startOurs(
  plane: ControlPlane,
  tools: Tools,
  run: Run,
  clock: Clock,
): Promise<Server> {
  const account = await plane.serviceAccountDirectory(
    'karpenter-unikraft',
    'karpenter-unikraft-webhook',
  );
  const [port, health, metrics] = [await freePort(), await freePort(), await freePort()];
  const { flags, env: given } = await deployed(tools);
  const env = {
    ...given,
    ...plane.environment(account),
    WEBHOOK_HOSTNAMES: 'localhost',
    WEBHOOK_PORT: String(port),
    HEALTH_PROBE_PORT: String(health),
    METRICS_PORT: String(metrics),
    LISTEN_HOST: '127.0.0.1',
    SHUTDOWN_DELAY: '0s',
  };
  const command = [process.execPath, ...flags, 'dist/webhook/main.js'] as const;
  const started = run.start({ name: 'webhook', command, cwd: root, env });
  await untilReady(started, async () => isReady(health), { clock });
  const name = 'karpenter-unikraft-webhook-ca';
  const path = `/api/v1/namespaces/karpenter-unikraft/secrets/${name}`;
  const secret = (await plane.admin.raw(path)) as { data: Record<string, string> };
  const ca = Buffer.from(secret.data['ca.crt'] ?? '', 'base64').toString('utf8');
  return { process: started, port, ca };
}

interface Deployed {
  /** Of node. */
  readonly flags: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** What the Deployment sets, such as the limits of the heap; what it takes from the Pod is left out. */
async function deployed({ kubectl }: Tools): Promise<Deployed> {
  const manifests = await render(kubectl, `${root}/kustomize/webhook`);
  const deployment = manifests.find(({ kind }) => kind === 'Deployment') as Manifest & {
    spec: { template: { spec: { containers: Container[] } } };
  };
  const [{ command = [], env = [] } = {}] = deployment.spec.template.spec.containers;
  const set = env.filter(({ value }) => value !== undefined);
  return {
    flags: command.filter((word) => word.startsWith('--')),
    env: Object.fromEntries(set.map(({ name, value = '' }) => [name, value])),
  };
}

async function isReady(port: number): Promise<boolean> {
  const { statusCode, body } = await request(`http://127.0.0.1:${port}/readyz`);
  await body.dump();
  return statusCode === 200;
}

/** With the settings of node that the Deployment gives ours, so that only what the two do is compared. */
export async function startBare(tools: Tools, run: Run, clock: Clock): Promise<Server> {
  const { flags, env: given } = await deployed(tools);
  const ofProcess = Object.entries(given).filter(([name]) => isSettingOfNode(name));
  const env = { ...process.env, ...Object.fromEntries(ofProcess) };
  return startPeer({ run, clock, name: 'bare', env }, (port, certificate, key) => [
    process.execPath,
    ...flags,
    join(here, 'bare.ts'),
    String(port),
    certificate,
    key,
  ]);
}

export async function startGo(run: Run, clock: Clock): Promise<Server> {
  const program = await buildGo();
  return startPeer({ run, clock, name: 'do-nothing' }, (port, certificate, key) => [
    program,
    `--address=127.0.0.1:${port}`,
    `--certificate=${certificate}`,
    `--key=${key}`,
  ]);
}

type CommandOf = (port: number, certificate: string, key: string) => [string, ...string[]];

interface PeerParts {
  readonly run: Run;
  readonly clock: Clock;
  readonly name: string;
  readonly env?: Record<string, string | undefined>;
}

async function startPeer(
  { run, clock, name, env }: PeerParts,
  commandOf: CommandOf,
): Promise<Server> {
  const authority = await Authority.create(clock, { commonName: name, validity: hours(24) });
  const leaf = await authority.issue({ names: ['localhost'], validity: hours(24) });
  const [certificate, key] = [join(run.dir, `${name}.crt`), join(run.dir, `${name}.key`)];
  await writeFile(certificate, leaf.certificate);
  await writeFile(key, leaf.privateKey, { mode: 0o600 });
  const port = await freePort();
  const command = commandOf(port, certificate, key);
  const started = run.start({ name, command, ...(env && { env }) });
  const server = { process: started, port, ca: authority.pem.certificate };
  const answers = async (): Promise<boolean> => {
    const { failed } = await callInTurn(
      server,
      [callWith('/mutate/pods', true)],
      (done) => done > 0,
    );
    return failed === 0;
  };
  await untilReady(started, answers, { clock });
  return server;
}

async function buildGo(): Promise<string> {
  const folder = join(here, 'donothing');
  const source = await readFile(join(folder, 'main.go'));
  const hash = createHash('sha256').update(source).digest('hex').slice(0, 16);
  const program = join(cacheRoot(), 'bench', `donothing-${hash}`);
  await mkdir(join(cacheRoot(), 'bench'), { recursive: true });
  await goOrThrow(['build', '-o', program, '.'], { cwd: folder, env: process.env });
  return program;
}

/** Seconds of processor time that a process has used, of all its threads (Linux). */
export function processorTime({ process: { pid } }: Server): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100; // utime and stime, in USER_HZ, which is 100 everywhere
}

/** MiB that a process holds (Linux). */
export function resident({ process: { pid } }: Server): number {
  const [, kilobytes = 'NaN'] =
    /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}
