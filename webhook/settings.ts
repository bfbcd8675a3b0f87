import { SettingsReader } from '#kube/runtime/settings.ts';
import type { Duration } from '#schemas/time/clock.ts';

/** How the webhook runs: docs/reference/settings.md. */
export interface Settings {
  /** The operator's own namespace. */
  readonly namespace: string;
  readonly port: number;
  readonly metricsPort: number;
  readonly healthPort: number;
  readonly host: string;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
  /** Names in the certificate: the Service's, and those by which else the API server may call. */
  readonly names: readonly string[];
  /** How long calls are still taken once the process is told to end: until everybody knows that it ends. */
  readonly shutdownDelay: Duration;
  /** Namespaces whose Pods are never touched: the system's, the operator's own, and Kraftlet's. */
  readonly excludedNamespaces: readonly string[];
  /** Name of the Secret that somebody else keeps the serving certificate in; empty: it is made here. */
  readonly certificateSecret: string;
  /** PEM file of who signs callers' certificates; empty: callers need none. */
  readonly clientCaFile: string;
  /** Common names that callers' certificates may have; empty: any. */
  readonly clientNames: readonly string[];
}

const system = ['kube-system', 'kube-node-lease'];
const service = 'karpenter-unikraft-webhook';

/** @throws InvalidSettings that names every value that cannot be used */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  const read = new SettingsReader(env);
  const namespace = read.text('SYSTEM_NAMESPACE', 'karpenter-unikraft');
  const settings: Settings = {
    namespace,
    port: read.port('WEBHOOK_PORT', 10_250),
    metricsPort: read.port('METRICS_PORT', 8080),
    healthPort: read.port('HEALTH_PROBE_PORT', 8081),
    host: read.text('LISTEN_HOST', '0.0.0.0'),
    logLevel: read.oneOf('LOG_LEVEL', ['debug', 'info', 'warn', 'error'], 'info'),
    names: [
      `${service}.${namespace}.svc`,
      `${service}.${namespace}.svc.cluster.local`,
      ...read.list('WEBHOOK_HOSTNAMES'),
    ],
    shutdownDelay: read.duration('SHUTDOWN_DELAY', '10s'),
    excludedNamespaces: [...system, namespace, ...read.list('KRAFTLET_NAMESPACES', 'kraftlet')],
    certificateSecret: optional(env, 'CERTIFICATE_SECRET'),
    clientCaFile: optional(env, 'CLIENT_CA_FILE'),
    clientNames: read.list('CLIENT_NAMES'),
  };
  read.finish();
  return settings;
}

function optional(env: NodeJS.ProcessEnv, name: string): string {
  return env[name] ?? '';
}
