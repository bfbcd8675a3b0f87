/**
 * Access by a kubeconfig: client certificates, tokens, token files, exec plugins, as client-node understands them. It is
 * loaded only here and only when called, since it costs up to 40 MiB and a Pod never needs it; its own HTTP is not used.
 */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import type { KubeConfig } from '@kubernetes/client-node';

import { seconds, type Clock } from '#schemas/time/clock.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

import { ConnectionSetupError, type Connection, type TlsOptions } from './connection.ts';
import { Refreshed } from './refreshed.ts';

/** client-node keeps what an exec plugin gave until it expires; asking each half minute is cheap and early enough. */
const maxAge = seconds(30);

interface Access {
  readonly tls: TlsOptions;
  readonly headers: Record<string, string>;
}

export interface KubeconfigOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly clock?: Clock;
}

/**
 * @param path of the kubeconfig; default as kubectl has it: the files in `KUBECONFIG`, else `~/.kube/config`
 * @throws ConnectionSetupError when it cannot be read, names no cluster, or asks for a proxy
 */
export async function kubeconfigConnection(
  path?: string,
  { env = process.env, clock = new SystemClock() }: KubeconfigOptions = {},
): Promise<Connection> {
  const files = path === undefined ? defaultFiles(env) : [path];
  let config = await load(files);
  const { server } = clusterOf(config, files);
  const context = config.getContextObject(config.currentContext);
  const access = new Refreshed<Access>((known) => accessOf(config, known), clock, maxAge);
  await access.get();
  return {
    server,
    namespace: context?.namespace,
    tls: async () => (await access.get()).tls,
    headers: async (how) => {
      // A new config asks plugins and files anew; the address stays that of the start.
      if (how?.fresh) config = await load(files);
      return (await access.get(how)).headers;
    },
  };
}

/** Of several files those that do not exist are passed over, as kubectl does. */
function defaultFiles(env: NodeJS.ProcessEnv): string[] {
  const listed = (env['KUBECONFIG'] ?? '').split(delimiter).filter((file) => file !== '');
  const candidates = listed.length > 0 ? listed : [join(homedir(), '.kube', 'config')];
  const files = candidates.filter((file) => existsSync(file));
  if (files.length > 0) return files;
  throw new ConnectionSetupError(
    `there is no kubeconfig at ${candidates.join(', ')}, and this is no Pod: name one, or set KUBECONFIG`,
  );
}

/** Of what several files give under one name, and of their current contexts, the first holds. */
async function load(files: readonly string[]): Promise<KubeConfig> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const [first, ...others] = files.map((file) => {
    const config = new KubeConfig();
    try {
      config.loadFromFile(file);
    } catch (cause) {
      throw new ConnectionSetupError(`cannot read the kubeconfig ${file}`, { cause });
    }
    return config;
  });
  const config = first ?? new KubeConfig();
  for (const other of others) {
    config.clusters.push(...other.clusters);
    config.users.push(...other.users);
    config.contexts.push(...other.contexts);
    config.currentContext ||= other.currentContext;
  }
  return config;
}

function clusterOf(config: KubeConfig, files: readonly string[]) {
  const cluster = config.getCurrentCluster();
  const name = files.join(', ');
  if (!cluster?.server) {
    const context = config.currentContext || '(none)';
    throw new ConnectionSetupError(
      `the kubeconfig ${name} has no cluster for its current-context ${context}: set one with kubectl config use-context`,
    );
  }
  if (cluster.proxyUrl) {
    throw new ConnectionSetupError(
      `the kubeconfig ${name} asks for the proxy ${cluster.proxyUrl} (proxy-url), which is not supported`,
    );
  }
  return cluster;
}

async function accessOf(config: KubeConfig, known: Access | undefined): Promise<Access> {
  const options: Parameters<KubeConfig['applyToHTTPSOptions']>[0] = {};
  await config.applyToHTTPSOptions(options).catch((cause: unknown) => {
    const text = cause instanceof Error ? cause.message : String(cause);
    const who = config.getCurrentUser()?.name ?? '(none)';
    throw new ConnectionSetupError(`user ${who} of the kubeconfig gives no credentials: ${text}`, {
      cause,
    });
  });
  const tls = tlsOf(options as Record<string, unknown>);
  const headers = Object.fromEntries(
    Object.entries(options.headers ?? {}).map(([name, value]) => [
      name.toLowerCase(),
      String(value),
    ]),
  );
  if (options.auth) {
    headers['authorization'] = `Basic ${Buffer.from(options.auth).toString('base64')}`;
  }
  return { tls: known && isDeepStrictEqual(known.tls, tls) ? known.tls : tls, headers };
}

const tlsFields = ['ca', 'cert', 'key', 'servername', 'rejectUnauthorized'] as const;

function tlsOf(options: Record<string, unknown>): TlsOptions {
  const given = tlsFields.filter(
    (field) => options[field] !== undefined && options[field] !== null,
  );
  return Object.fromEntries(given.map((field) => [field, options[field]]));
}
