import { parseArgs } from 'node:util';

export interface Arguments {
  readonly clusterUid: string;
  readonly regions: readonly string[];
  readonly zones: readonly { readonly name: string; readonly id: string | undefined }[];
  readonly assumeRoleARN: string | undefined;
  readonly assumeRoleExternalID: string | undefined;
  /** Remove without asking. */
  readonly yes: boolean;
}

export const usage = `kpu cleanup --cluster <UID> --region <region> [--zone <name>] [options]

Lists what a cluster left in an AWS account: instances and volumes of the region with the cluster's tag, names in the
zone whose ownership record names the cluster. Removes it only if that is confirmed.

  --cluster <UID>       uid of the cluster's namespace kube-system; instances have it as karpenter.unikraft.com/cluster
  --region <region>     where to look for instances and volumes; may be repeated
  --zone <name>[=<id>]  hosted zone to look for names in, with its id where several have that name; may be repeated
  --role <ARN>          role to assume, as in spec.aws.assumeRoleARN
  --external-id <id>    what the role asks for, as in spec.aws.assumeRoleExternalID
  --yes                 remove without asking; without it the cluster's UID has to be typed, and nothing is removed where
                        nobody can type
`;

const text = { type: 'string' } as const;
const options = {
  cluster: text,
  region: { ...text, multiple: true },
  zone: { ...text, multiple: true },
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
    const { cluster, region: regions = [], zone: zones = [], yes } = values;
    const { role: assumeRoleARN, 'external-id': assumeRoleExternalID } = values;
    if (cluster === undefined) return new Error('--cluster is missing');
    if (!uid.test(cluster)) return new Error(`--cluster ${cluster}: that is no UID of Kubernetes`);
    if (regions.length === 0) return new Error('--region is missing');
    const named = [...new Set(zones)].map((zone) => {
      const [name = '', id] = zone.split('=');
      return { name, id };
    });
    const each = [...new Set(regions)];
    const role = { assumeRoleARN, assumeRoleExternalID };
    return { clusterUid: cluster, regions: each, zones: named, ...role, yes };
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
