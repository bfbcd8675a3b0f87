import type { KubeClient } from '#kube/client/client.ts';
import type { Logger } from '#kube/log.ts';
import { Metrics } from '#kube/metrics.ts';
import { HealthServer } from '#kube/runtime/health-server.ts';
import { Manager } from '#kube/runtime/manager.ts';
import { hours, type Clock } from '#schemas/time/clock.ts';

import { CaBundle } from './certificate/ca-bundle.ts';
import { sharedAuthority } from './certificate/ca-secret.ts';
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
 * authority that all share; it is ready once both webhook configurations trust that authority.
 *
 * @param listening is told the port once it is known
 */
export async function runAdmission(
  { client, clock, log, settings }: AdmissionParts,
  signal: AbortSignal,
  listening: (listener: TlsListener) => void = () => {},
): Promise<void> {
  const metrics = new Metrics();
  const authority = await sharedAuthority(client, settings.namespace, clock);
  const leaf = await authority.issue({ names: settings.names, validity: oneYear });
  const app = admissionServer({ log, metrics, clock });
  const { host, port, metricsPort, healthPort } = settings;
  const listener = new TlsListener({ app, leaf, host, port });
  const bundle = new CaBundle({ client, ca: authority.pem.certificate, clock, log });
  const manager = new Manager({ clock, log });
  manager.addReady('listener', () =>
    listener.port === undefined ? 'not listening yet' : undefined,
  );
  manager.addReady('ca-bundle', () =>
    bundle.published ? undefined : 'the webhook configurations do not trust the CA yet',
  );
  const { live, ready } = manager;
  manager.addBase(
    new HealthServer({ port: metricsPort, host, clock, log, metrics }),
    new HealthServer({ port: healthPort, host, clock, log, live, ready }),
  );
  manager.addAlways(listener, bundle);
  listening(listener);
  await manager.run(signal);
}
