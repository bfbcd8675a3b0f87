import type { KubeClient } from '#kube/client/client.ts';
import type { Logger } from '#kube/log.ts';
import { Metrics } from '#kube/metrics.ts';
import { HealthServer } from '#kube/runtime/health-server.ts';
import { Manager } from '#kube/runtime/manager.ts';
import type { Authority } from '#pki/authority.ts';
import { hours, seconds, type Clock } from '#schemas/time/clock.ts';

import { CaBundle } from './certificate/ca-bundle.ts';
import { CaSecret } from './certificate/ca-secret.ts';
import { handshakeProblem } from './certificate/handshake.ts';
import { Trust } from './certificate/trust.ts';
import { admissionServer } from './server.ts';
import type { Settings } from './settings.ts';
import { TlsListener } from './tls-listener.ts';

export interface AdmissionParts {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly settings: Settings;
}

const oneYear = hours(24 * 365);

/**
 * The whole webhook process without the process. Each replica has a leaf of its own, in memory, signed by the
 * authority that all share; it is ready once the API server would trust it, tried by a handshake.
 *
 * @param starting is given the listener, which has a port once it listens
 * @throws {RunnableFailed} when a part fails; its cause is AuthorityReplaced when the Secret holds another CA
 */
export async function runAdmission(
  { client, clock, log, settings }: AdmissionParts,
  signal: AbortSignal,
  starting: (listener: TlsListener) => void = () => {},
): Promise<void> {
  const metrics = new Metrics();
  metrics.collectProcess();
  const { host, port, metricsPort, healthPort, names, namespace, shutdownDelay } = settings;
  const secret = new CaSecret({ client, namespace, clock });
  const authority = await secret.authority();
  const leaf = await authority.issue({ names, validity: oneYear });
  const app = admissionServer({ log, metrics });
  const listener = new TlsListener({ app, leaf, host, port, clock, shutdownDelay });
  const bundle = new CaBundle(client, authority.pem.certificate);
  const trust = new Trust({ authority, secret, bundle, clock, log });
  const shutdownTimeout = shutdownDelay + seconds(15);
  const manager = new Manager({ clock, log, shutdownTimeout });
  manager.addReady('tls', () => tlsTrouble(listener, settings, authority));
  manager.addReady('trust', () => trust.trouble);
  const { live, ready } = manager;
  manager.addBase(
    new HealthServer({ port: metricsPort, host, clock, log, metrics }),
    new HealthServer({ port: healthPort, host, clock, log, live, ready }),
  );
  manager.addAlways(listener, trust);
  starting(listener);
  await manager.run(signal);
}

async function tlsTrouble(
  { port }: TlsListener,
  { host, names: [servername = ''] }: Settings,
  { pem }: Authority,
): Promise<string | undefined> {
  if (port === undefined) return 'it does not listen yet';
  return handshakeProblem({ host, port, servername, ca: pem.certificate });
}
