import type { Metrics } from '#kube/metrics.ts';
import { CloudIdentities } from '#machine/bootstrap/cloud-identity.ts';

import type { BootstrapSettings, TicketOffice } from '../bootstrap-mode.ts';
import type { Context } from '../context.ts';
import { Revisions } from '../nodeclass/revisions.ts';
import { NodeClassSecrets } from '../nodeclass/secrets.ts';
import { Callback } from './callback.ts';
import { BootstrapKeys } from './keys.ts';
import { BootstrapListener } from './listener.ts';
import { bootstrapServer } from './server.ts';
import { Tickets } from './tickets.ts';

export interface Bootstrap {
  readonly tickets: TicketOffice;
  /** For every replica: docs/adr/0023. */
  readonly listener: BootstrapListener;
}

/** The bootstrap server with what it answers from. */
export function bootstrapOf(
  context: Context,
  { host, bootstrap: settings }: { host: string; bootstrap: BootstrapSettings },
  metrics: Metrics,
): Bootstrap {
  const { client, namespace, clock, log, clusterUid } = context;
  const keys = new BootstrapKeys(client, namespace, clock);
  const tickets = new Tickets(keys, clusterUid, clock);
  const secrets = new NodeClassSecrets(client, namespace, clock);
  const callback = new Callback({
    context,
    tickets,
    revisions: new Revisions(context),
    identities: new CloudIdentities(settings),
    authorityOf: async (nodeClass) => secrets.authorityOf(nodeClass),
  });
  const own = log.child({ controller: 'bootstrap' });
  const answer: Callback['answer'] = async (...call) => callback.answer(...call);
  const app = bootstrapServer({ answer, clock, log: own, metrics });
  return {
    tickets,
    listener: new BootstrapListener({ app, keys, settings, host, clock, log: own }),
  };
}
