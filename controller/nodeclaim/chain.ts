import type { NameLookup } from '#machine/dns/provider.ts';
import type { KraftletReleases } from '#machine/kraftlet/release.ts';
import type { PlatformApi } from '#machine/platform/api.ts';
import type { Node } from '#schemas/kubernetes/core.ts';

import type { Catalog } from '../catalog.ts';
import type { Context } from '../context.ts';
import type { Freshest } from '../freshest.ts';
import type { Nominations } from '../provisioning/nominations.ts';
import type { Reservations } from '../reservations/reservations.ts';
import { KraftletRelease } from './kraftlet/release.ts';
import { KraftletUpkeep } from './kraftlet/upkeep.ts';
import type { CapacityCheck } from './launch/capacity-check.ts';
import { Credentials } from './launch/credentials.ts';
import { Dns } from './launch/dns.ts';
import { Health } from './launch/health.ts';
import { Initialization } from './launch/initialization.ts';
import { Instance } from './launch/instance.ts';
import { Kraftlet } from './launch/kraftlet.ts';
import { Registration } from './launch/registration.ts';
import { Reservation } from './launch/reservation.ts';
import { Running } from './launch/running.ts';
import type { CredentialStore } from './machine/credentials.ts';
import type { Machines } from './machine/machines.ts';
import type { ClaimWriter } from './steps/claim-writer.ts';
import type { Step } from './steps/step.ts';
import { DnsGone } from './termination/dns-gone.ts';
import { Drain } from './termination/drain.ts';
import { Eviction } from './termination/eviction.ts';
import { InstanceGone } from './termination/instance-gone.ts';
import { NodeReleased } from './termination/node-released.ts';
import { PodsReleased } from './termination/pods-released.ts';
import { ReservationGone } from './termination/reservation-gone.ts';
import { SecretsGone } from './termination/secrets-gone.ts';
import { Uninstall } from './termination/uninstall.ts';

/** What the steps are made of. */
export interface Parts {
  readonly context: Context;
  readonly catalog: Catalog;
  readonly reservations: Reservations;
  readonly nominations: Nominations;
  readonly writer: ClaimWriter;
  readonly credentials: CredentialStore;
  readonly machines: Machines;
  readonly names: NameLookup;
  readonly platform: PlatformApi;
  readonly releases: KraftletReleases;
  readonly capacity: CapacityCheck;
  readonly nodes: Freshest<Node>;
}

/** The whole life of a machine, to be read in one look: how it comes to be … */
export function launchChain(parts: Parts): readonly Step[] {
  const { context, catalog, reservations, nominations, writer, credentials, machines } = parts;
  const { client, caches, clock, namespace } = context;
  return [
    new Reservation(caches, catalog, reservations, writer, clock),
    new Credentials(credentials, machines),
    new Instance({ client, caches, namespace, clock, machines, writer }),
    new Running(machines, clock),
    new Dns(machines, parts.names, clock),
    new Health(parts.platform, machines, parts.capacity, clock),
    new Kraftlet(caches, new KraftletRelease(client, parts.releases, machines)),
    ...upkeepChain(parts),
    new Registration(client, caches, parts.nodes, nominations, clock),
    new Initialization(client, parts.nodes, parts.capacity),
  ];
}

/** … how it is kept: from the moment Kraftlet was ready until the claim is deleted … */
export function upkeepChain({ context, releases, machines }: Parts): readonly Step[] {
  const { client, caches, recorder } = context;
  const release = new KraftletRelease(client, releases, machines);
  return [new KraftletUpkeep({ client, caches, recorder, release, machines })];
}

/** … and how it goes. The order is what keeps Pods, addresses and limits safe: docs/concepts/machine-life.md. */
export function terminationChain(parts: Parts): readonly Step[] {
  const { context, reservations, nominations, credentials, machines } = parts;
  const { client, caches, clock, recorder } = context;
  return [
    new Drain(context, { nodes: parts.nodes, machines, eviction: new Eviction(context) }),
    new Uninstall(context),
    new DnsGone({ machines, names: parts.names, recorder, clock }),
    new InstanceGone(machines, clock),
    new PodsReleased(client, caches, clock),
    new NodeReleased(client, caches),
    new SecretsGone(credentials),
    new ReservationGone(reservations, nominations),
  ];
}
