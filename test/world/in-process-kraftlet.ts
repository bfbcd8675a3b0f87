import type { KubeClient } from '#kube/client/client.ts';
import { inClusterConnection } from '#kube/client/in-cluster.ts';
import { UndiciKubeClient } from '#kube/client/undici-client.ts';
import { silentLogger } from '#kube/log.ts';
import type { Program, RunningPod } from '#sandbox/host-node/program.ts';
import { Kraftlet } from '#sandbox/kraftlet/kraftlet.ts';
import { readSettings } from '#sandbox/kraftlet/settings.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

/** What a test puts between a Kraftlet and the API server. */
export type Between = (client: KubeClient, pod: RunningPod) => KubeClient;

/**
 * The stand-in Kraftlet in the test's own process: a hundred of them start in the time that one Node process needs.
 * It still has its Pod's environment, token and rights.
 */
export function inProcessKraftlet(
  dnsServer: () => string,
  between: Between = (client) => client,
): Program {
  return {
    run: async (pod, signal) => {
      const { env } = pod;
      const clock = new SystemClock();
      const connection = await inClusterConnection({ env, clock });
      const client = new UndiciKubeClient(connection, { clock, fieldManager: 'kraftlet' });
      const settings = readSettings({ ...env, SANDBOX_DNS: dnsServer() });
      try {
        const through = between(client, pod);
        await new Kraftlet({ settings, client: through, clock, log: silentLogger }).run(signal);
      } finally {
        await client.close();
      }
    },
  };
}
