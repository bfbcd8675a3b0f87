import { readFile } from 'node:fs/promises';

import { SharedInformer } from '#kube/cache/shared-informer.ts';
import type { KubeClient } from '#kube/client/client.ts';
import type { Logger } from '#kube/log.ts';
import { Metrics } from '#kube/metrics.ts';
import { HealthServer } from '#kube/runtime/health-server.ts';
import { Manager } from '#kube/runtime/manager.ts';
import type { PemPair } from '#pki/certificate.ts';
import type { Secret } from '#schemas/kubernetes/core.ts';
import { keyText, secrets } from '#schemas/kubernetes/resource.ts';
import { seconds, type Clock } from '#schemas/time/clock.ts';

import { CaBundle } from './certificate/ca-bundle.ts';
import { CaSecret, caSecretName } from './certificate/ca-secret.ts';
import { GivenCertificate } from './certificate/given-certificate.ts';
import { handshakeProblem } from './certificate/handshake.ts';
import type { Identity } from './certificate/identity.ts';
import { Leaf } from './certificate/leaf.ts';
import { RingKeeper } from './certificate/ring-keeper.ts';
import { usualLifetimes, type Lifetimes } from './certificate/ring.ts';
import { Trust } from './certificate/trust.ts';
import { ClientCa, onlyFrom } from './clients.ts';
import { eventLoopDelay, Gate } from './gate.ts';
import { hooks } from './hooks.ts';
import { Machines } from './machines.ts';
import { Notes } from './notes.ts';
import { showProcess } from './process-metrics.ts';
import { admissionServer } from './server.ts';
import type { Settings } from './settings.ts';
import { TlsListener } from './tls-listener.ts';

export interface AdmissionParts {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly settings: Settings;
  /** Default: a year for the CA, a week for leaves. */
  readonly lifetimes?: Lifetimes;
}

/**
 * The whole webhook process without the process. Each replica serves with a leaf of its own, in memory, signed by the
 * authority that all share; it is ready once what it serves leads to what stands in the live configurations, tried by
 * a handshake.
 *
 * @param starting is given the listener, which has a port once it listens
 * @throws {RunnableFailed} when a part fails
 * @throws InvalidCertificate when the Secret with the authority holds none
 */
export async function runAdmission(
  parts: AdmissionParts,
  signal: AbortSignal,
  starting: (listener: TlsListener) => void = () => {},
): Promise<void> {
  const { clock, log, settings } = parts;
  const metrics = new Metrics();
  const delay = eventLoopDelay();
  showProcess(metrics, delay);
  const { host, port, metricsPort, healthPort, shutdownDelay, clientCaFile } = settings;
  const clientCa = clientCaFile === '' ? undefined : await readFile(clientCaFile, 'utf8');
  const gate = new Gate(delay);
  const machines = new Machines({ client: parts.client, clock, log, metrics });
  const called = hooks(settings, (changed) => machines.behind(changed));
  const notes = new Notes(clock);
  const app = admissionServer({ log, metrics, clock, gate, notes, hooks: called });
  const listener = new TlsListener({
    app: clientCa === undefined ? app : onlyFrom(settings.clientNames, app),
    clientCa,
    host,
    port,
    clock,
    shutdownDelay,
  });
  const cache = secretCache(parts, metrics);
  const identity = await identityOf(parts, cache, (pair) => listener.serveWith(pair));
  cache.subscribe(onAnyChange(() => identity.wake()));
  const help = 'Entries of the webhook configurations; 0: nothing is injected or judged here.';
  metrics.sample('karpenter_unikraft_webhook_hooks', help, {}, () => identity.hooks);
  const manager = new Manager({ clock, log, shutdownTimeout: shutdownDelay + seconds(15) });
  manager.addReady('tls', async () => tlsTrouble(listener, settings, identity));
  manager.addReady('trust', () => identity.trouble);
  const { live, ready } = manager;
  manager.addBase(
    new HealthServer({ port: metricsPort, host, clock, log, metrics }),
    new HealthServer({ port: healthPort, host, clock, log, live, ready }),
  );
  manager.addCaches(cache);
  manager.addAlways(listener, identity, machines);
  if (clientCa !== undefined) {
    const trust = (pem: string): void => listener.trustCallersOf(pem);
    manager.addAlways(new ClientCa({ file: clientCaFile, pem: clientCa, trust, clock, log }));
  }
  starting(listener);
  try {
    await manager.run(signal);
  } finally {
    notes.flush();
  }
}

/** The one Secret that counts, kept fresh by a watch. */
function secretCache(
  { client, clock, log, settings }: AdmissionParts,
  metrics: Metrics,
): SharedInformer<Secret> {
  const { namespace, certificateSecret } = settings;
  const fieldSelector = `metadata.name=${certificateSecret || caSecretName}`;
  return new SharedInformer(client, secrets, { clock, log, metrics, namespace, fieldSelector });
}

async function identityOf(
  { client, clock, log, settings, lifetimes = usualLifetimes }: AdmissionParts,
  cache: SharedInformer<Secret>,
  serve: (pair: PemPair) => void,
): Promise<Identity> {
  const { namespace, names, certificateSecret } = settings;
  const bundle = new CaBundle(client);
  const from = keyText({ namespace, name: certificateSecret || caSecretName });
  const seen = (): Secret | undefined => cache.get(from);
  if (certificateSecret !== '') {
    return new GivenCertificate({ from, seen, names, bundle, serve, clock, log });
  }
  const secret = new CaSecret({ client, namespace, clock, lifetimes });
  const stored = await secret.open();
  const leaf = await Leaf.first({ secret, names, validity: lifetimes.leaf, clock }, stored.ring);
  serve(leaf.pair);
  const keeper = new RingKeeper({ secret, seen, clock, lifetimes }, stored);
  return new Trust({ keeper, bundle, leaf, serve, lifetimes, clock, log });
}

function onAnyChange(action: () => void): { add(): void; update(): void; delete(): void } {
  return { add: action, update: action, delete: action };
}

async function tlsTrouble(
  { port }: TlsListener,
  { host, names: [servername = ''] }: Settings,
  { live }: Identity,
): Promise<string | undefined> {
  if (port === undefined) return 'it does not listen yet';
  const problems = await Promise.all(
    live.map(async (ca) => handshakeProblem({ host, port, servername, ca })),
  );
  return problems.find((problem) => problem !== undefined);
}
