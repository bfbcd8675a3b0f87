import { parseArgs } from 'node:util';

/** A zone by its DNS name, and by its id where several have that name. */
export interface ZoneArgument {
  readonly name: string;
  readonly id: string | undefined;
}

export interface Arguments {
  readonly clusterUid: string;
  /** Of AWS. */
  readonly regions: readonly string[];
  /** Of Route 53. */
  readonly zones: readonly ZoneArgument[];
  /** Of Google Cloud. */
  readonly projects: readonly string[];
  /** Of Cloud DNS. */
  readonly managedZones: readonly (ZoneArgument & { readonly project: string })[];
  readonly assumeRoleARN: string | undefined;
  readonly assumeRoleExternalID: string | undefined;
  /** Remove without asking. */
  readonly yes: boolean;
}

export const usage = `kpu cleanup --cluster <UID> [--region <region>] [--project <project>] [zones] [options]

Lists what a cluster left in AWS and in Google Cloud: instances, volumes and network interfaces with the cluster's tag or
label, names in zones whose ownership record names the cluster. Removes it only if that is confirmed.

  --cluster <UID>       uid of the cluster's namespace kube-system; instances have it as karpenter.unikraft.com/cluster, in
                        Google Cloud as the label karpenter-unikraft-com-cluster
  --region <region>     AWS: where to look for instances, volumes and network interfaces
  --zone <name>[=<id>]  AWS: hosted zone to look for names in, with its id where several have that name
  --project <project>   Google Cloud: where to look for instances and disks, in all zones
  --managed-zone <project>/<name>[=<managed zone>]
                        Google Cloud: zone of Cloud DNS, by its DNS name, with the name of the managed zone where several
                        have that DNS name
  --role <ARN>          AWS: role to assume, as in spec.aws.assumeRoleARN
  --external-id <id>    AWS: what the role asks for, as in spec.aws.assumeRoleExternalID
  --yes                 remove without asking; without it the cluster's UID has to be typed, and nothing is removed where
                        nobody can type

All that says where to look may be repeated. Zones of a DNS server with dynamic updates (RFC 2136) cannot be listed.
`;

const text = { type: 'string' } as const;
const many = { ...text, multiple: true } as const;
const options = {
  cluster: text,
  region: many,
  zone: many,
  project: many,
  'managed-zone': many,
  role: text,
  'external-id': text,
  yes: { type: 'boolean', default: false },
} as const;

/** Kubernetes' UIDs. Nothing else may reach a filter of EC2, where `*` would be every cluster there is. */
const uid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** @returns the error that names the argument that cannot be used */
export function readArguments(argv: readonly string[]): Arguments | Error {
  try {
    const { values } = parseArgs({ args: [...argv], options });
    const { cluster, region = [], zone = [], project = [], yes } = values;
    if (cluster === undefined) return new Error('--cluster is missing');
    if (!uid.test(cluster)) return new Error(`--cluster ${cluster}: that is no UID of Kubernetes`);
    const args = {
      clusterUid: cluster,
      regions: unique(region),
      zones: unique(zone).map(zoneIn),
      projects: unique(project),
      managedZones: unique(values['managed-zone'] ?? []).map(managedZoneIn),
      assumeRoleARN: values.role,
      assumeRoleExternalID: values['external-id'],
      yes,
    };
    const isSomewhere = [args.regions, args.zones, args.projects, args.managedZones].some(
      ({ length }) => length > 0,
    );
    if (isSomewhere) return args;
    return new Error('Nothing says where to look: --region, --zone, --project, --managed-zone');
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

const unique = (values: readonly string[]): string[] => [...new Set(values)];

function zoneIn(zone: string): ZoneArgument {
  const [name = '', id] = zone.split('=');
  return { name, id };
}

/** @throws for one without its project */
function managedZoneIn(text: string): ZoneArgument & { project: string } {
  const [, project, zone] = /^([^/]+)\/([^/]+)$/.exec(text) ?? [];
  if (project !== undefined && zone !== undefined) return { project, ...zoneIn(zone) };
  throw new Error(`--managed-zone ${text}: write <project>/<DNS name>[=<managed zone>]`);
}
