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
/** `eu-central-1`, `us-gov-west-1`: it becomes part of a host name. */
const region = /^[a-z]{2,}(-[a-z]+)+-\d{1,2}$/;
/** Of old ones the domain of their company stands before them: `example.com:machines`. */
const project = /^([a-z0-9.-]+:)?[a-z][a-z0-9-]{4,28}[a-z0-9]$/;
const domain = /^([a-z0-9_]([a-z0-9_-]*[a-z0-9_])?\.)+[a-z0-9-]+\.?$/i;

/** @returns the error that names the argument that cannot be used, and what is allowed */
export function readArguments(argv: readonly string[]): Arguments | Error {
  try {
    const { values } = parseArgs({ args: [...argv], options });
    const args = {
      clusterUid: clusterIn(values.cluster),
      regions: unique(values.region).map((one) => fitting(one, region, '--region', 'eu-central-1')),
      zones: unique(values.zone).map((one) => zoneIn(one, '--zone', '<name>[=<id>]')),
      projects: unique(values.project).map((one) =>
        fitting(one, project, '--project', 'my-project'),
      ),
      managedZones: unique(values['managed-zone']).map(managedZoneIn),
      assumeRoleARN: values.role,
      assumeRoleExternalID: values['external-id'],
      yes: values.yes,
    };
    refuseWhatSaysNothing(args);
    return args;
  } catch (error) {
    return error instanceof Error ? inOurWords(error) : new Error(String(error));
  }
}

const unique = (values: readonly string[] = []): string[] => [...new Set(values)];

function clusterIn(cluster: string | undefined): string {
  if (cluster === undefined) throw new Error('--cluster is missing');
  if (uid.test(cluster)) return cluster;
  throw new Error(`--cluster ${JSON.stringify(cluster)} is not a UID of Kubernetes`);
}

function fitting(value: string, pattern: RegExp, flag: string, example: string): string {
  if (pattern.test(value)) return value;
  throw new Error(`${flag} ${JSON.stringify(value)} is not one such as ${example}`);
}

function zoneIn(text: string, flag: string, form: string): ZoneArgument {
  const [, name = '', id] = /^([^=]+)(?:=([^=]+))?$/.exec(text) ?? [];
  if (domain.test(name)) return { name, id };
  throw new Error(`${flag} ${JSON.stringify(text)} is not ${form}`);
}

function managedZoneIn(text: string): ZoneArgument & { project: string } {
  const form = '<project>/<DNS name>[=<managed zone>]';
  const [, host = '', zone = ''] = /^([^/]+)\/([^/]+)$/.exec(text) ?? [];
  if (project.test(host)) return { project: host, ...zoneIn(zone, '--managed-zone', form) };
  throw new Error(`--managed-zone ${JSON.stringify(text)} is not ${form}`);
}

/** @throws where nothing says where to look, or something is only for a place that is not looked at */
function refuseWhatSaysNothing(args: Arguments): void {
  const inAws = args.regions.length + args.zones.length > 0;
  const inGcp = args.projects.length + args.managedZones.length > 0;
  if (!inAws && !inGcp) {
    throw new Error('nothing says where to look: --region, --zone, --project, --managed-zone');
  }
  const { assumeRoleARN, assumeRoleExternalID } = args;
  if (assumeRoleARN !== undefined && !inAws) {
    throw new Error('--role is for AWS, and neither --region nor --zone is given');
  }
  if (assumeRoleExternalID !== undefined && assumeRoleARN === undefined) {
    throw new Error('--external-id is for --role, which is not given');
  }
}

/** What Node.js says of arguments is longer than a line, and speaks to who wrote the program. */
function inOurWords(error: Error): Error {
  const { code } = error as { code?: string };
  const [, named = ''] = /'([^']*)'/.exec(error.message) ?? [];
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    const known = Object.keys(options).map((name) => `--${name}`);
    return new Error(`unknown flag ${named}; there are ${known.join(', ')}`);
  }
  if (code === 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL') {
    return new Error(`${JSON.stringify(named)} belongs to no flag`);
  }
  if (code === 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE') {
    const [flag = ''] = named.split(' ');
    return new Error(flag === '--yes' ? '--yes takes no value' : `${flag} needs a value`);
  }
  return error;
}
