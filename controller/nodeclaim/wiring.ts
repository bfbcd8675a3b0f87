import type { Metrics } from '#kube/metrics.ts';
import { Controller } from '#kube/runtime/controller.ts';
import type { Runnable } from '#kube/runtime/reconciler.ts';
import { singleton } from '#kube/runtime/singleton.ts';
import type { NameLookup } from '#machine/dns/provider.ts';
import type { KraftletReleases } from '#machine/kraftlet/release.ts';
import type { PlatformApi } from '#machine/platform/api.ts';
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { Node } from '#schemas/kubernetes/core.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';

import type { TicketOffice } from '../bootstrap-mode.ts';
import type { Catalog } from '../catalog.ts';
import { CertManagerCertificates } from '../certificates/cert-manager.ts';
import { Certificates } from '../certificates/certificates.ts';
import { GivenCertificates } from '../certificates/given.ts';
import { PrivateCa } from '../certificates/private-ca.ts';
import type { CertificateSource } from '../certificates/source.ts';
import type { Clouds } from '../clouds.ts';
import type { Context } from '../context.ts';
import { Freshest } from '../freshest.ts';
import type { Revisions } from '../nodeclass/revisions.ts';
import type { NodeClassSecrets } from '../nodeclass/secrets.ts';
import type { Nominations } from '../provisioning/nominations.ts';
import type { Reservations } from '../reservations/reservations.ts';
import { AfterBurst } from './after-burst.ts';
import { launchChain, terminationChain, upkeepChain, type Parts } from './chain.ts';
import { NodeClaimController } from './controller.ts';
import { Collector } from './garbagecollection/collector.ts';
import { Interruption } from './garbagecollection/interruption.ts';
import { CapacityCheck } from './launch/capacity-check.ts';
import { LostNode } from './lost-node.ts';
import { CredentialStore } from './machine/credentials.ts';
import { Machines } from './machine/machines.ts';
import { NodeClaimMetrics } from './metrics.ts';
import { Renewal } from './renewal/renewal.ts';
import { repairOf } from './repair/wiring.ts';
import { ClaimWriter } from './steps/claim-writer.ts';
import { wakes } from './wakes.ts';

/** Other claims go on while one waits for a cloud; a hundred machines at once is a busy day. */
const concurrency = 100;
/** One list of instances per region and round; EC2 refills twenty such calls a second. */
const collectionInterval = seconds(15);
/** A third of a certificate's life is left, and even that of an hour is long for this. */
const renewalInterval = minutes(1);
/** Status checks fail for two minutes before they count. */
const statusInterval = minutes(1);
/** What is down is tolerated for ten minutes at least; a Kraftlet is missed after one. */
const repairInterval = minutes(1);

export interface NodeClaimOptions {
  readonly catalog: Catalog;
  readonly clouds: Clouds;
  readonly names: NameLookup;
  readonly nominations: Nominations;
  readonly platform: PlatformApi;
  readonly releases: KraftletReleases;
  readonly reservations: Reservations;
  readonly revisions: Revisions;
  readonly secrets: Pick<NodeClassSecrets, 'authorityOf'>;
  readonly acme: CertificateSource;
  /** For machines that call for their secrets. */
  readonly tickets: TicketOffice;
}

/** The NodeClaim controller with what wakes it, and the collection of claims whose instance is gone. */
export function nodeClaimControllers(
  context: Context,
  options: NodeClaimOptions,
  metrics: Metrics,
): readonly Runnable[] {
  const { caches, clock, log } = context;
  const { revisions, clouds } = options;
  const claims = new Freshest<NodeClaim>(caches.nodeClaims);
  const writer = new ClaimWriter(context.client, claims);
  const parts = partsOf(context, options, writer);
  const reconciler = new NodeClaimController(context, {
    claims,
    revisions,
    writer,
    metrics: new NodeClaimMetrics(metrics, clock),
    lostNode: new LostNode(context.client, parts.nodes),
    chains: {
      launch: launchChain(parts),
      upkeep: upkeepChain(parts),
      termination: terminationChain(parts),
    },
  });
  const collector = new Collector(context, clouds, revisions);
  const interruption = new Interruption(context, clouds, revisions, metrics);
  const repair = repairOf(context, { ...parts, revisions }, metrics);
  const { credentials } = parts;
  const renewal = new Renewal(context, { revisions, credentials, writer, metrics });
  const loop = { clock, log, metrics };
  return [
    new Controller({
      name: 'nodeclaim',
      reconciler: new AfterBurst(reconciler, claims, options.reservations.burst),
      concurrency,
      clock,
      log,
      metrics,
      watches: wakes(caches),
    }),
    singleton(
      'nodeclaim.garbagecollection',
      collectionInterval,
      (signal) => collector.collect(signal),
      loop,
    ),
    singleton(
      'nodeclaim.interruption',
      statusInterval,
      (signal) => interruption.look(signal),
      loop,
    ),
    singleton('nodeclaim.renewal', renewalInterval, (signal) => renewal.look(signal), loop),
    singleton('nodeclaim.repair', repairInterval, (signal) => repair.look(signal), loop),
  ];
}

function partsOf(context: Context, options: NodeClaimOptions, writer: ClaimWriter): Parts {
  const { client, namespace, caches, clock } = context;
  const authorityOf = (nodeClass: Parameters<NodeClassSecrets['authorityOf']>[0]) =>
    options.secrets.authorityOf(nodeClass);
  const certificates = new Certificates({
    PrivateCA: new PrivateCa(authorityOf),
    SecretRef: new GivenCertificates(client, namespace, clock),
    ACME: options.acme,
    CertManager: new CertManagerCertificates(client, namespace, clock),
  });
  const credentials = new CredentialStore(context, certificates, options.tickets);
  return {
    ...options,
    context,
    writer,
    credentials,
    machines: new Machines(options.clouds, credentials),
    capacity: new CapacityCheck(context, options.reservations),
    nodes: new Freshest<Node>(caches.nodes),
  };
}
