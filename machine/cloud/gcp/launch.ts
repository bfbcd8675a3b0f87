import type { GcpDisk, GcpSpec } from '#schemas/nodeclass/types.ts';
import { Quantity } from '#schemas/quantity/quantity.ts';

import type { MachineIdentity } from '../../machine.ts';
import type { LaunchRequest } from '../provider.ts';
import { instanceName, labelOf, labelsFor, metadataFor } from './labels.ts';
import { processorFor, usualDisk } from './nested.ts';
import type { DiskBody, InstanceBody } from './resources.ts';

const bytesPerGiB = 1n << 30n;

/** The one call that makes a machine: pure, so that every call for one candidate is the same to the byte. */
export function instanceBody(request: LaunchRequest, gcp: GcpSpec): InstanceBody {
  const { identity, nodeClass, candidate, userData } = request;
  const { instanceType, zone, subnet, metal } = candidate;
  const { serviceAccount, networkTags = [] } = gcp;
  const minCpuPlatform = processorFor(instanceType);
  const isPublic = nodeClass.spec.dns.addressType === 'External';
  return {
    name: instanceName(identity),
    machineType: `zones/${zone}/machineTypes/${instanceType}`,
    ...(minCpuPlatform !== undefined && { minCpuPlatform }),
    // metal has the processor's virtualisation to itself and refuses the option
    ...(!metal && { advancedMachineFeatures: { enableNestedVirtualization: true } }),
    disks: disksOf(request, gcp),
    networkInterfaces: [
      {
        subnetwork: subnet,
        ...(isPublic && { accessConfigs: [{ name: 'External NAT', type: 'ONE_TO_ONE_NAT' }] }),
      },
    ],
    scheduling: {
      provisioningModel: 'STANDARD',
      // what its guests had in memory is lost when a host fails: the machine ends, is seen to have, and is replaced
      automaticRestart: false,
      onHostMaintenance: metal ? 'TERMINATE' : 'MIGRATE',
    },
    ...(serviceAccount !== undefined && {
      // what it may do is for its roles to say; scopes are the older, coarser way
      serviceAccounts: [
        { email: serviceAccount, scopes: ['https://www.googleapis.com/auth/cloud-platform'] },
      ],
    }),
    ...(networkTags.length > 0 && { tags: { items: networkTags.toSorted() } }),
    labels: labelsFor(identity, nodeClass.spec.tags ?? {}),
    metadata: { items: metadataFor(identity, userData, nodeClass.image.id) },
  };
}

/** The first disk boots; without any there is one as large as the image. Each ends with its instance, and says so. */
function disksOf({ identity, nodeClass, candidate }: LaunchRequest, gcp: GcpSpec): DiskBody[] {
  const disks: readonly Partial<GcpDisk>[] = gcp.disks?.length ? gcp.disks : [{}];
  const labels = diskLabels(identity);
  return disks.map((disk, index) => {
    const { size, type = usualDisk(candidate.instanceType), iops, throughput, kmsKeyName } = disk;
    return {
      boot: index === 0,
      autoDelete: true,
      initializeParams: {
        ...(index === 0 && { sourceImage: nodeClass.image.id }),
        ...(size !== undefined && { diskSizeGb: gibibytes(size) }),
        diskType: `zones/${candidate.zone}/diskTypes/${type}`,
        ...(iops !== undefined && { provisionedIops: String(iops) }),
        ...(throughput !== undefined && { provisionedThroughput: String(throughput) }),
        labels,
      },
      ...(kmsKeyName !== undefined && { diskEncryptionKey: { kmsKeyName } }),
    };
  });
}

/** Whose a disk is that has outlived its instance. */
function diskLabels({ clusterUid, claimUid }: MachineIdentity): Record<string, string> {
  return { [labelOf.cluster]: clusterUid, [labelOf.claimUid]: claimUid };
}

/** Whole GiB, rounded up: never less disk than was asked for. */
function gibibytes(size: string): string {
  return String((Quantity.parse(size).toInteger() + bytesPerGiB - 1n) / bytesPerGiB);
}
