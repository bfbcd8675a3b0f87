/**
 * What Kraftlet is told by its environment. Names and meanings: Unikraft's Kubernetes integration page; where it
 * gives none, they are marked as the sandbox's own.
 */
import type { Taint } from '#schemas/kubernetes/core.ts';
import { finalizers } from '#schemas/names.ts';
import { type Duration, seconds } from '#schemas/time/clock.ts';
import { parseDuration } from '#schemas/time/duration.ts';

export interface KraftletSettings {
  readonly nodeName: string;
  readonly architecture: string;
  /** The platform API of the machine. */
  readonly endpoint: URL;
  readonly token: string;
  /** Beside those that every Kraftlet Node has. */
  readonly labels: Readonly<Record<string, string>>;
  /** The chart has room for exactly one. */
  readonly taint: Taint | undefined;
  readonly providerID: string | undefined;
  readonly internalIP: string | undefined;
  /** As Go programs read it: the files in it are the only CAs that are trusted. */
  readonly certificates: string | undefined;
  readonly insecure: boolean;
  readonly platformHealthCondition: boolean;
  readonly podFinalizer: string;
  /** How often Pods are looked at without an event. */
  readonly podStatusInterval: Duration;
  readonly podWorkers: number;
  /** The sandbox's own: how much of the memory quota the Node advertises, in percent. */
  readonly advertisedPercent: number;
  /** The sandbox's own: how often the platform is looked at for what the Node says. */
  readonly nodeStatusInterval: Duration;
  /** The sandbox's own: where names of machines resolve, `host:port`. */
  readonly dnsServer: string | undefined;
  /** The sandbox's own: addresses by name, which are stronger than DNS, as those of a hosts file are. */
  readonly hosts: ReadonlyMap<string, string>;
}

export class BadSettings extends Error {}

type Env = Readonly<Record<string, string | undefined>>;

/** Throws {@link BadSettings} that names the variable. */
export function readSettings(env: Env): KraftletSettings {
  return {
    nodeName: env['KRAFTLET_NODE_NAME'] ?? 'kraftlet',
    architecture: env['KRAFTLET_NODE_ARCHITECTURE'] ?? 'amd64',
    endpoint: endpointOf(required(env, 'KRAFTLET_UKC_DEFAULT_METRO')),
    token: required(env, 'KRAFTLET_UKC_TOKEN'),
    labels: pairs(env['KRAFTLET_NODE_LABELS'] ?? ''),
    taint: taintOf(env),
    providerID: given(env, 'KRAFTLET_NODE_PROVIDER_ID'),
    internalIP: given(env, 'KRAFTLET_NODE_INTERNAL_IP'),
    certificates: given(env, 'SSL_CERT_DIR'),
    insecure: flag(env, 'KRAFTLET_ALLOW_INSECURE', false),
    platformHealthCondition: flag(env, 'KRAFTLET_ENABLE_PLATFORM_HEALTH_CONDITION', true),
    podFinalizer: given(env, 'KRAFTLET_POD_FINALIZER') ?? finalizers.kraftletPod,
    podStatusInterval: durationOf(env, 'KRAFTLET_POD_STATUS_UPDATE_INTERVAL', seconds(15)),
    podWorkers: Number(given(env, 'KRAFTLET_POD_SYNC_WORKERS') ?? 1),
    advertisedPercent: Number(given(env, 'SANDBOX_ADVERTISED_PERCENT') ?? 100),
    nodeStatusInterval: durationOf(env, 'SANDBOX_NODE_STATUS_INTERVAL', seconds(10)),
    dnsServer: given(env, 'SANDBOX_DNS'),
    hosts: hostsIn(env['SANDBOX_HOSTS'] ?? ''),
  };
}

const given = (env: Env, name: string): string | undefined => env[name] || undefined;

function required(env: Env, name: string): string {
  const value = given(env, name);
  if (value === undefined) throw new BadSettings(`${name} is not set`);
  return value;
}

function flag(env: Env, name: string, otherwise: boolean): boolean {
  const value = given(env, name);
  if (value === undefined) return otherwise;
  if (value === 'true' || value === 'false') return value === 'true';
  throw new BadSettings(`${name} is ${value}, and must be true or false`);
}

function durationOf(env: Env, name: string, otherwise: Duration): Duration {
  const value = given(env, name);
  return value === undefined ? otherwise : parseDuration(value);
}

/** The name of a public metro, or any URL. */
function endpointOf(metro: string): URL {
  const text = /^https?:\/\//.test(metro) ? metro : `https://api.${metro}.unikraft.cloud`;
  if (URL.canParse(text)) return new URL(text);
  throw new BadSettings(`KRAFTLET_UKC_DEFAULT_METRO is ${metro}, and must be a metro or a URL`);
}

/** `k=v;k=v` */
function pairs(text: string): Record<string, string> {
  const parts = text.split(';').filter((part) => part !== '');
  return Object.fromEntries(
    parts.map((part) => {
      const at = part.indexOf('=');
      if (at > 0) return [part.slice(0, at), part.slice(at + 1)];
      throw new BadSettings(`KRAFTLET_NODE_LABELS has ${part}, and must be key=value;key=value`);
    }),
  );
}

/** Lines of an address and its names. */
function hostsIn(text: string): ReadonlyMap<string, string> {
  const lines = text.split('\n').map((line) => line.trim().split(/\s+/));
  return new Map(lines.flatMap(([ip = '', ...names]) => names.map((name) => [name, ip] as const)));
}

const effects: readonly string[] = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

function taintOf(env: Env): Taint | undefined {
  if (!flag(env, 'KRAFTLET_ENABLE_NODE_TAINT', true)) return undefined;
  const key = given(env, 'KRAFTLET_NODE_TAINT_KEY') ?? 'virtual-kubelet.io/provider';
  const value = env['KRAFTLET_NODE_TAINT_VALUE'] ?? 'ukc';
  const effect = given(env, 'KRAFTLET_NODE_TAINT_EFFECT') ?? 'NoSchedule';
  if (!effects.includes(effect)) {
    throw new BadSettings(
      `KRAFTLET_NODE_TAINT_EFFECT is ${effect}, and must be one of ${effects.join(', ')}`,
    );
  }
  return { key, ...(value === '' ? {} : { value }), effect: effect as Taint['effect'] };
}
