import { Ec2ClientPool, type Ec2Clients } from '#machine/cloud/aws/clients.ts';
import { deletePart, interfacesOf, volumesOf } from '#machine/cloud/aws/parts.ts';
import { route53Client } from '#machine/dns/route53/client.ts';
import { Route53Dns } from '#machine/dns/route53/route53-dns.ts';
import type { Clock } from '#schemas/time/clock.ts';

import type { Arguments } from '../arguments.ts';
import { NamesInZone } from '../names.ts';
import { PartsThere, type Shelf } from '../parts.ts';
import type { Places } from '../place.ts';
import { InstancesInRegion } from './instances.ts';

/** Where the arguments ask to look in AWS. Credentials are the SDK's usual ones. */
export function placesInAws(args: Arguments, clock: Clock, maxAttempts?: number): Places {
  const { clusterUid, regions, zones, assumeRoleARN, assumeRoleExternalID } = args;
  const attempts = maxAttempts === undefined ? {} : { maxAttempts };
  const role = { assumeRoleARN, assumeRoleExternalID };
  const dns = new Route53Dns({ clock, client: route53Client({ ...role, ...attempts }) });
  const pool = new Ec2ClientPool({ clock, ...attempts });
  const parts = regions.map((region) => {
    const clients = pool.for({ region, ...role });
    return { clients, region, clusterUid, clock };
  });
  return {
    names: zones.map(
      ({ name, id }) => new NamesInZone({ dns, zone: name, zoneID: id, clusterUid }),
    ),
    instances: parts.map((part) => new InstancesInRegion(part)),
    parts: parts.flatMap((part) => shelves(part).map((shelf) => new PartsThere(shelf))),
  };
}

function shelves(of: {
  clients: Ec2Clients;
  region: string;
  clusterUid: string;
  clock: Clock;
}): Shelf[] {
  const { clients, region, clock } = of;
  const remove: Shelf['delete'] = async (part) => deletePart(clients.write, part);
  return [
    {
      name: `volumes in ${region}`,
      list: async () => volumesOf(clients.read, of),
      delete: remove,
      clock,
    },
    {
      name: `network interfaces in ${region}`,
      list: async () => interfacesOf(clients.read, of),
      delete: remove,
      clock,
    },
  ];
}
