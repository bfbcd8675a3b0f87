import { ComputeApi } from '#machine/cloud/gcp/api.ts';
import { deleteDisk, disksOf } from '#machine/cloud/gcp/disks.ts';
import { CloudDnsApi } from '#machine/dns/clouddns/api.ts';
import { CloudDns } from '#machine/dns/clouddns/cloud-dns.ts';
import { applicationDefaultToken, type Token } from '#machine/gcp/rest.ts';
import type { Clock } from '#schemas/time/clock.ts';

import type { Arguments } from '../arguments.ts';
import { NamesInZone } from '../names.ts';
import { type Part, PartsThere } from '../parts.ts';
import type { Places } from '../place.ts';
import { InstancesInProject, type ProjectToClean } from './instances.ts';

/** Where the arguments ask to look in Google Cloud. Credentials are Google's usual ones. */
export function placesInGcp(
  { clusterUid, projects, managedZones }: Arguments,
  clock: Clock,
  token: Token = applicationDefaultToken(),
): Places {
  const api = new ComputeApi(token);
  const names = managedZones.map(({ project, name, id }) => {
    const dns = new CloudDns({ clock, api: new CloudDnsApi(token), project });
    return new NamesInZone({ dns, zone: name, zoneID: id, clusterUid });
  });
  const parts = projects.map((project) => ({ api, project, clusterUid, clock }));
  return {
    names,
    instances: parts.map((part) => new InstancesInProject(part)),
    parts: parts.map((part) => disksIn(part)),
  };
}

function disksIn(of: ProjectToClean): PartsThere {
  const { api, project, clock } = of;
  return new PartsThere({
    name: `disks in project ${project}`,
    list: async (signal) => (await disksOf(api, of, signal)).map(withZone),
    delete: async (part, signal) => deleteDisk(api, project, withoutZone(part), signal),
    clock,
  });
}

/** A name is unique in its zone only. */
function withZone(disk: Part): Part {
  return { ...disk, id: `${disk.zone}/${disk.id}` };
}

function withoutZone({ id, zone }: Part): Pick<Part, 'id' | 'zone'> {
  return { id: id.slice(zone.length + 1), zone };
}
