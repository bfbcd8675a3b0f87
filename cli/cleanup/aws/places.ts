import { Ec2ClientPool } from '#machine/cloud/aws/clients.ts';
import { route53Client } from '#machine/dns/route53/client.ts';
import { Route53Dns } from '#machine/dns/route53/route53-dns.ts';
import type { Clock } from '#schemas/time/clock.ts';

import type { Arguments } from '../arguments.ts';
import type { Place } from '../place.ts';
import { InstancesInRegion } from './instances.ts';
import { NamesInZone } from './names.ts';
import { VolumesInRegion } from './volumes.ts';

/** Where the arguments ask to look, in the order in which it is emptied. Credentials are the SDK's usual ones. */
export function placesInAws(args: Arguments, clock: Clock, maxAttempts?: number): Place[] {
  const { clusterUid, regions, zones, assumeRoleARN, assumeRoleExternalID } = args;
  const attempts = maxAttempts === undefined ? {} : { maxAttempts };
  const role = { assumeRoleARN, assumeRoleExternalID };
  const dns = new Route53Dns({ clock, client: route53Client({ ...role, ...attempts }) });
  const pool = new Ec2ClientPool({ clock, ...attempts });
  const parts = regions.map((region) => {
    const clients = pool.for({ region, ...role });
    return { clients, region, clusterUid, clock };
  });
  return [
    ...zones.map(({ name, id }) => new NamesInZone({ dns, zone: name, zoneID: id, clusterUid })),
    ...parts.map((part) => new InstancesInRegion(part)),
    ...parts.map((part) => new VolumesInRegion(part)),
  ];
}
