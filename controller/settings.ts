import { readFileSync } from 'node:fs';

import { processIdentity } from '#kube/runtime/leader-election.ts';
import { SettingsReader } from '#kube/runtime/settings.ts';
import type { Duration } from '#schemas/time/clock.ts';

import type { BootstrapSettings } from './bootstrap-mode.ts';
import {
  parseSchedulerConfig,
  type SchedulerConfig,
} from './provisioning/default-spread/scheduler-config.ts';

/** Where prices may be set, unless a setting says otherwise. */
export const pricesConfigMap = 'karpenter-unikraft-prices';

/** How the controller runs. Names that mean the same are upstream's: docs/reference/settings.md. */
export interface Settings {
  /** The operator's own namespace. */
  readonly namespace: string;
  /** Namespaces that node classes may put Kraftlet releases into. */
  readonly kraftletNamespaces: readonly string[];
  /** `host` or `host:port`; empty: the system's resolvers. */
  readonly dnsServers: readonly string[];
  /** The ConfigMap, in the operator's namespace, that prices may be set in. */
  readonly pricesConfigMap: string;
  /** The helm program. */
  readonly helm: string;
  readonly batch: { readonly idle: Duration; readonly max: Duration };
  readonly preferencePolicy: 'Respect' | 'Ignore';
  readonly minValuesPolicy: 'Strict' | 'BestEffort';
  /** How the cluster's kube-scheduler is configured; absent: it gives Pods no spread that planning must know of. */
  readonly schedulerConfig?: SchedulerConfig;
  /** For machines that call for their secrets; absent: none may, and nothing is served. */
  readonly bootstrap?: BootstrapSettings;
  readonly metricsPort: number;
  readonly healthPort: number;
  readonly host: string;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
  readonly leaderElection: boolean;
  readonly leaderElectionName: string;
  readonly identity: string;
}

/** @throws InvalidSettings that names every value that cannot be used */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  const read = new SettingsReader(env);
  const schedulerConfig = readSchedulerConfig(read, env);
  const bootstrap = readBootstrap(read);
  const settings: Settings = {
    namespace: read.text('SYSTEM_NAMESPACE', 'karpenter-unikraft'),
    kraftletNamespaces: read.list('KRAFTLET_NAMESPACES', 'kraftlet'),
    dnsServers: read.list('DNS_SERVERS'),
    pricesConfigMap: read.text('PRICES_CONFIG_MAP', pricesConfigMap),
    helm: read.text('HELM', 'helm'),
    batch: {
      idle: read.duration('BATCH_IDLE_DURATION', '1s'),
      max: read.duration('BATCH_MAX_DURATION', '10s'),
    },
    preferencePolicy: read.oneOf('PREFERENCE_POLICY', ['Respect', 'Ignore'], 'Respect'),
    minValuesPolicy: read.oneOf('MIN_VALUES_POLICY', ['Strict', 'BestEffort'], 'Strict'),
    ...(schedulerConfig && { schedulerConfig }),
    ...(bootstrap && { bootstrap }),
    metricsPort: read.port('METRICS_PORT', 8080),
    healthPort: read.port('HEALTH_PROBE_PORT', 8081),
    host: read.text('LISTEN_HOST', '0.0.0.0'),
    logLevel: read.oneOf('LOG_LEVEL', ['debug', 'info', 'warn', 'error'], 'info'),
    leaderElection: !read.flag('DISABLE_LEADER_ELECTION', false),
    leaderElectionName: read.text('LEADER_ELECTION_NAME', 'karpenter-unikraft-leader-election'),
    identity: processIdentity(env),
  };
  read.finish();
  return settings;
}

/** From the setting, as upstream has it, or from a file: kube-scheduler's own can be mounted. */
function readSchedulerConfig(
  read: SettingsReader,
  env: NodeJS.ProcessEnv,
): SchedulerConfig | undefined {
  const fromFile = (path: string): SchedulerConfig | undefined => {
    if (env['SCHEDULER_CONFIG']) throw new Error('SCHEDULER_CONFIG is set too; keep one of them');
    return parseSchedulerConfig(readFileSync(path, 'utf8'));
  };
  const config = read.parsed('SCHEDULER_CONFIG', parseSchedulerConfig);
  return read.parsed('SCHEDULER_CONFIG_FILE', fromFile) ?? config;
}

/** Google's keys, for all tokens of its metadata servers. */
const googleKeys = 'https://www.googleapis.com/oauth2/v3/certs';

/** Names of the server decide: without one nobody could reach it. */
function readBootstrap(read: SettingsReader): BootstrapSettings | undefined {
  const hostnames = read.list('BOOTSTRAP_HOSTNAMES');
  const awsIssuers = read.parsed('BOOTSTRAP_AWS_ISSUERS', (text) =>
    text.split(',').map((issuer) => secureUrl(issuer.trim().replace(/\/$/, ''))),
  );
  const settings = {
    port: read.port('BOOTSTRAP_PORT', 8443),
    hostnames,
    awsIssuers: awsIssuers ?? [],
    googleKeys: read.parsed('BOOTSTRAP_GOOGLE_KEYS', secureUrl) ?? googleKeys,
  };
  return hostnames.length > 0 ? settings : undefined;
}

/** Keys that came over a line that others can write to prove nothing; loopback is no line. */
function secureUrl(text: string): string {
  const url = URL.parse(text);
  const isLoopback = url?.hostname === '127.0.0.1' || url?.hostname === 'localhost';
  if (url && (url.protocol === 'https:' || isLoopback)) return text;
  throw new Error(`"${text}" is no https address`);
}
