import { Metrics } from '#kube/metrics.ts';

import { noTickets } from '../bootstrap-mode.ts';
import { nodeClaimControllers } from '../nodeclaim/wiring.ts';
import { CloudCatalog } from '../nodeclass/catalog.ts';
import { Revisions } from '../nodeclass/revisions.ts';
import { Nominations } from '../provisioning/nominations.ts';
import { Reservations } from '../reservations/reservations.ts';
import { acmeOf } from './certificates.ts';
import type { ClaimWorld } from './claim-world.ts';

/** The controllers of claims as they are wired, in a world whose context or cloud may be another than its own. */
export function claimControllers(
  world: ClaimWorld,
  {
    context = world.context,
    cloud = world.cloud,
    reservations = new Reservations(context),
  }: Partial<Pick<ClaimWorld, 'context' | 'cloud'>> & { reservations?: Reservations } = {},
): ReturnType<typeof nodeClaimControllers> {
  const { dns, platform, releases, authority } = world;
  const clouds = { for: async () => cloud, dns: async () => dns };
  const revisions = new Revisions(context);
  const options = {
    catalog: new CloudCatalog(context, revisions, clouds),
    clouds,
    names: dns,
    nominations: new Nominations(context),
    platform,
    releases,
    reservations,
    revisions,
    acme: acmeOf(context),
    secrets: { authorityOf: async () => authority },
    tickets: noTickets,
  };
  return nodeClaimControllers(context, options, new Metrics());
}
