/**
 * Access by a kubeconfig: client certificates, tokens, token files, exec plugins, as client-node understands them. It is
 * loaded only here and only when called, since it costs up to 40 MiB and a Pod never needs it; its own HTTP is not used.
 */
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

/**
 * @param path of the kubeconfig; default: `KUBECONFIG`, else `~/.kube/config`
 * @throws ConnectionSetupError when it cannot be read, names no cluster, or asks for a proxy
 */
export async function kubeconfigConnection(
  path?: string,
  { clock = new SystemClock() }: { clock?: Clock } = {},
): Promise<Connection> {
  let config = await load(path);
  const { server } = clusterOf(config, path);
  const context = config.getContextObject(config.currentContext);
  const access = new Refreshed<Access>((known) => accessOf(config, known), clock, maxAge);
  await access.get();
  return {
    server,
    namespace: context?.namespace,
    tls: async () => (await access.get()).tls,
    headers: async (how) => {
      // A new config asks plugins and files anew; the address stays that of the start.
      if (how?.fresh) config = await load(path);
      return (await access.get(how)).headers;
    },
  };
}

async function load(path: string | undefined): Promise<KubeConfig> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  try {
    if (path === undefined) config.loadFromDefault();
    else config.loadFromFile(path);
  } catch (cause) {
    throw new ConnectionSetupError(`cannot read the kubeconfig ${path ?? 'of this user'}`, {
      cause,
    });
  }
  return config;
}

function clusterOf(config: KubeConfig, path: string | undefined) {
  const cluster = config.getCurrentCluster();
  const name = path ?? 'of this user';
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
  await config.applyToHTTPSOptions(options);
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
