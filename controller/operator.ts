import type { KubeClient } from '#kube/client/client.ts';
import type { Logger } from '#kube/log.ts';
import { Metrics } from '#kube/metrics.ts';
import { KubeEventRecorder } from '#kube/runtime/event-recorder.ts';
import { HealthServer } from '#kube/runtime/health-server.ts';
import { LeaderElector } from '#kube/runtime/leader-election.ts';
import { Manager } from '#kube/runtime/manager.ts';
import type { Runnable } from '#kube/runtime/reconciler.ts';
import { CloudFacts } from '#machine/cloud/cloud-facts.ts';
import { DnsLookup } from '#machine/dns/lookup.ts';
import { HelmReleases } from '#machine/kraftlet/helm-releases.ts';
import { HelmBinary } from '#machine/kraftlet/helm.ts';
import { PlatformClient } from '#machine/platform/client.ts';
import { namespaces } from '#schemas/kubernetes/resource.ts';
import type { Clock } from '#schemas/time/clock.ts';

import { noTickets, type TicketOffice } from './bootstrap-mode.ts';
import { AcmeCertificates, type AcmeParts } from './certificates/acme/acme.ts';
import { LazyClouds, type LazyCloudsParts } from './clouds.ts';
import type { Context } from './context.ts';
import { disruptionControllers } from './disruption/wiring.ts';
import { ExternalDns } from './external-dns.ts';
import { informers } from './informers.ts';
import { KarpenterCrds } from './karpenter-crds.ts';
import { leftoverCollection } from './leftovers/wiring.ts';
import { nodeClaimControllers } from './nodeclaim/wiring.ts';
import { CloudCatalog } from './nodeclass/catalog.ts';
import { Revisions } from './nodeclass/revisions.ts';
import { NodeClassSecrets } from './nodeclass/secrets.ts';
import { nodeClassController } from './nodeclass/wiring.ts';
import { nodePoolController } from './nodepool/wiring.ts';
import { pricesController } from './prices/wiring.ts';
import { spreadInformers } from './provisioning/default-spread/caches.ts';
import { DefaultSpreads } from './provisioning/default-spread/default-spreads.ts';
import { Nominations } from './provisioning/nominations.ts';
import { provisioningControllers } from './provisioning/wiring.ts';
import { cappedCondition } from './quotas/pool-conditions.ts';
import { quotaPolicyController } from './quotas/wiring.ts';
import { Reservations } from './reservations/reservations.ts';
import type { Settings } from './settings.ts';

export interface OperatorParts {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly settings: Settings;
}

/**
 * The whole controller process without the process: main.ts runs one, and tests run it in their own process with a
 * clock that they move.
 *
 * Without Karpenter's CRDs it stays alive and not ready, and says so, until they are served.
 */
export async function runOperator(parts: OperatorParts, signal: AbortSignal): Promise<void> {
  const { client, clock, log, settings } = parts;
  const metrics = new Metrics();
  metrics.collectProcess();
  const { namespace, pricesConfigMap } = settings;
  const caches = informers({ client, clock, log, metrics, namespace, pricesConfigMap });
  const recorder = new KubeEventRecorder({ client, clock, log, metrics });
  const manager = new Manager({ clock, log, elector: electorOf(parts, metrics) });
  const crds = new KarpenterCrds(parts);
  manager.addReady(crds.name, crds.check);
  const clusterUid = await clusterUidOf(client);
  const context = { client, caches, recorder, clock, log, namespace, clusterUid };
  manager.addBase(...servers(parts, metrics, manager), recorder, crds);
  manager.addCaches(...Object.values(caches));
  const defaultSpreads = defaultSpreadsOf(parts, metrics, manager);
  const tickets = await serveBootstrap(context, settings, { metrics, manager });
  manager.addLeading(...controllers(context, { settings, defaultSpreads, tickets }, metrics));
  await manager.run(signal);
}

/** Every loop, tied together; each folder's wiring.ts says what wakes it. */
function controllers(
  context: Context,
  { settings, defaultSpreads, tickets }: Given,
  metrics: Metrics,
): Runnable[] {
  const { client, namespace, clock, log } = context;
  const facts = new CloudFacts();
  const secrets = new NodeClassSecrets(client, namespace, clock);
  const tsigKey: LazyCloudsParts['tsigKey'] = async (tsig) => secrets.tsigKey(tsig);
  const externalDns = new ExternalDns(client, namespace);
  const clouds = new LazyClouds({ clock, facts, log, tsigKey, externalDns });
  const revisions = new Revisions(context);
  const catalog = new CloudCatalog(context, revisions, clouds);
  const reservations = new Reservations(context);
  const nominations = new Nominations(context);
  const releases = new HelmReleases({
    helm: new HelmBinary(settings.helm),
    namespaces: settings.kraftletNamespaces,
  });
  const provisioning = provisioningControllers(
    context,
    {
      catalog,
      reservations,
      nominations,
      batch: settings.batch,
      defaultSpreads,
      policies: {
        preferencePolicy: settings.preferencePolicy,
        minValuesPolicy: settings.minValuesPolicy,
      },
    },
    metrics,
  );
  const capped = cappedCondition(reservations.ceilings);
  const pools = nodePoolController(
    context,
    { extraConditions: (pool) => [...provisioning.poolConditions(pool), ...capped(pool)] },
    metrics,
  );
  provisioning.onPoolChange((name) => pools.enqueue(name));
  const names = new DnsLookup(settings.dnsServers);
  const textsAt: AcmeParts['textsAt'] = async (name, signal) => names.texts(name, signal);
  const acme = new AcmeCertificates({ client, namespace, clock, clouds, textsAt });
  const claimOptions = {
    catalog,
    clouds,
    names,
    acme,
    nominations,
    platform: new PlatformClient(clock),
    releases,
    reservations,
    revisions,
    secrets,
    tickets,
  };
  return [
    reservations,
    quotaPolicyController(context, reservations, metrics),
    pricesController(context, facts, metrics),
    nodeClassController(
      context,
      { clouds, releases, acme, bootstrap: settings.bootstrap },
      metrics,
    ),
    pools,
    ...provisioning.runnables,
    ...nodeClaimControllers(context, claimOptions, metrics),
    leftoverCollection(context, { clouds, namespaces: settings.kraftletNamespaces }, metrics),
    ...disruptionControllers(
      context,
      { plannedFor: (claim) => nominations.podsOf(claim) },
      metrics,
    ),
  ];
}

interface Given extends Pick<OperatorParts, 'settings'> {
  readonly defaultSpreads: DefaultSpreads | undefined;
  readonly tickets: TicketOffice;
}

/** What proves tokens is loaded only where machines may call. */
async function serveBootstrap(
  context: Context,
  { host, bootstrap }: Settings,
  { metrics, manager }: { metrics: Metrics; manager: Manager },
): Promise<TicketOffice> {
  if (!bootstrap) return noTickets;
  const { bootstrapOf } = await import('./bootstrap/wiring.ts');
  const { tickets, listener } = bootstrapOf(context, { host, bootstrap }, metrics);
  manager.addAlways(listener);
  manager.addReady('bootstrap', () => listener.trouble);
  return tickets;
}

/** Services, ReplicaSets and the like are watched only where kube-scheduler looks at them too. */
function defaultSpreadsOf(
  { client, clock, log, settings }: OperatorParts,
  metrics: Metrics,
  manager: Manager,
): DefaultSpreads | undefined {
  if (!settings.schedulerConfig) return undefined;
  const caches = spreadInformers(client, { clock, log, metrics });
  manager.addCaches(...Object.values(caches));
  return new DefaultSpreads(settings.schedulerConfig, caches);
}

function servers({ clock, log, settings }: OperatorParts, metrics: Metrics, manager: Manager) {
  const { host, healthPort, metricsPort } = settings;
  return [
    new HealthServer({ port: metricsPort, host, clock, log, metrics }),
    new HealthServer({
      port: healthPort,
      host,
      clock,
      log,
      live: manager.live,
      ready: manager.ready,
    }),
  ];
}

function electorOf({ client, clock, log, settings }: OperatorParts, metrics: Metrics) {
  if (!settings.leaderElection) return undefined;
  const { namespace, leaderElectionName: name, identity } = settings;
  return new LeaderElector({ client, clock, log, metrics, namespace, name, identity });
}

/** Which cluster this is: instances and DNS records carry it, so that two clusters never take each other's. */
async function clusterUidOf(client: KubeClient): Promise<string> {
  return (await client.get(namespaces, { name: 'kube-system' })).metadata.uid;
}
