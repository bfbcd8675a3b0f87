/**
 * Access from inside of a Pod by its ServiceAccount's files, without client-node: the token is replaced by the kubelet
 * well before it ends (after 80 % of an hour by default), so reading it each minute is early enough.
 */
import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { seconds, type Clock } from '#schemas/time/clock.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

import { ConnectionSetupError, type Connection, type TlsOptions } from './connection.ts';
import { Refreshed } from './refreshed.ts';

const defaultDirectory = '/var/run/secrets/kubernetes.io/serviceaccount';
const maxAge = seconds(60);

export interface InClusterOptions {
  /** Holds `token`, `ca.crt` and `namespace`; default: KUBERNETES_SERVICE_ACCOUNT_DIR, else the kubelet's place. */
  readonly directory?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly clock?: Clock;
}

/** Whether a Pod's environment and token are there. */
export async function isInCluster({ directory, env = process.env }: InClusterOptions = {}) {
  if (!env['KUBERNETES_SERVICE_HOST']) return false;
  return access(join(directoryOf(directory, env), 'token')).then(
    () => true,
    () => false,
  );
}

/** @throws ConnectionSetupError when the environment or a file is missing */
export async function inClusterConnection(options: InClusterOptions = {}): Promise<Connection> {
  const { env = process.env, clock = new SystemClock() } = options;
  const directory = directoryOf(options.directory, env);
  const ca = new Refreshed<TlsOptions>((known) => readCa(directory, known), clock, maxAge);
  const token = new Refreshed(() => read(directory, 'token'), clock, maxAge);
  const [namespace] = await Promise.all([
    read(directory, 'namespace').catch(() => undefined),
    ca.get(),
    token.get(),
  ]);
  return {
    server: serverOf(env),
    namespace,
    tls: () => ca.get(),
    headers: async (how) => ({ authorization: `Bearer ${await token.get(how)}` }),
  };
}

function directoryOf(directory: string | undefined, env: NodeJS.ProcessEnv): string {
  return directory ?? (env['KUBERNETES_SERVICE_ACCOUNT_DIR'] || defaultDirectory);
}

function serverOf(env: NodeJS.ProcessEnv): string {
  const host = env['KUBERNETES_SERVICE_HOST'];
  if (!host) {
    throw new ConnectionSetupError(
      'KUBERNETES_SERVICE_HOST is not set: this is no Pod. Name a kubeconfig instead.',
    );
  }
  const port = env['KUBERNETES_SERVICE_PORT'] || '443';
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`; // IPv6 in brackets
}

async function readCa(directory: string, known: TlsOptions | undefined): Promise<TlsOptions> {
  const ca = await read(directory, 'ca.crt');
  return known?.ca === ca ? known : { ca };
}

async function read(directory: string, file: string): Promise<string> {
  const path = join(directory, file);
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new ConnectionSetupError(
      `cannot read ${path}: the Pod needs its ServiceAccount's token mounted (automountServiceAccountToken)`,
      { cause },
    );
  });
  if (text.trim() === '') throw new ConnectionSetupError(`${path} is empty`);
  return text.trim();
}
