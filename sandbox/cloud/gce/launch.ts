/**
 * Judges an insert as Compute Engine does. Fields and types were checked before; here is what goes together.
 *
 * Source: Compute Engine API reference, instances.insert, and the docs of what it mentions; messages are the API's own
 * where users report them.
 */
import { isMetal, needsHyperdisk } from '#machine/cloud/gcp/nested.ts';
import type { InstanceBody } from '#machine/cloud/gcp/resources.ts';

import { CloudError } from '../wire/service.ts';
import type { Disk, Launch } from './instance.ts';
import {
  type Image,
  type MachineSize,
  type Project,
  regionOf,
  type Subnetwork,
} from './project.ts';

type Body = Partial<InstanceBody> & {
  readonly deletionProtection?: boolean;
  readonly scheduling?: { readonly instanceTerminationAction?: string };
};

/** @returns what is to be started; throws {@link CloudError} for what cannot be */
export function readLaunch(zone: string, body: Body, project: Project): Launch {
  const { disks = [], networkInterfaces = [], labels = {}, metadata } = body;
  const size = sizeOf(zone, body, project);
  refuseScheduling(size, body);
  const [network] = networkInterfaces;
  return {
    name: nameOf(body),
    zone,
    size,
    image: bootImageOf(disks, size, project),
    subnetwork: subnetworkOf(zone, network?.subnetwork ?? '', project),
    nested: nestedOf(size, body),
    public: network?.accessConfigs !== undefined,
    disks: disks.map((disk, index) => diskOf(disk, index, size)),
    protectedFromDeletion: body.deletionProtection ?? false,
    labels: labelsOf(labels),
    metadata: metadataOf(metadata?.items ?? []),
    serviceAccount: serviceAccountOf(body),
    onHostMaintenance: hostMaintenanceOf(body),
  };
}

function bootImageOf([boot]: InstanceBody['disks'], size: MachineSize, project: Project): Image {
  if (boot?.boot !== true) throw invalid('disks', 'The first disk must be a boot disk.');
  const image = imageOf(boot.initializeParams.sourceImage ?? '', project);
  if (image.architecture === size.architecture) return image;
  const apart = `${image.architecture} image cannot be used on ${size.architecture} machine type ${size.name}.`;
  throw invalid('disks[0].initializeParams.sourceImage', apart);
}

/** What Compute Engine does where nothing is said. */
function hostMaintenanceOf({ scheduling }: Body): Launch['onHostMaintenance'] {
  return scheduling?.onHostMaintenance ?? 'MIGRATE';
}

function nameOf({ name = '' }: Body): string {
  if (/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)) return name;
  throw invalid('name', `'${name}' is not a match of regex '[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?'`);
}

function sizeOf(zone: string, { machineType = '' }: Body, project: Project): MachineSize {
  const [, place, type] = /zones\/([^/]+)\/machineTypes\/([^/]+)$/.exec(machineType) ?? [];
  const size = project.sizes.find(({ name }) => name === type);
  if (size && place === zone && !project.notSold.get(zone)?.has(size.name)) return size;
  const absent = `Machine type with name '${type}' does not exist in zone '${zone}'.`;
  throw invalid('machineType', absent);
}

function imageOf(path: string, { images }: Project): Image {
  const [, owner, name] = /projects\/([^/]+)\/global\/images\/([^/]+)$/.exec(path) ?? [];
  const image = images.find((one) => one.project === owner && one.name === name);
  if (image) return image;
  throw new CloudError('notFound', `The resource '${path}' was not found`, 404);
}

function subnetworkOf(zone: string, path: string, { id, subnetworks }: Project): Subnetwork {
  const found = subnetworks.find(
    ({ name, region }) => path === `projects/${id}/regions/${region}/subnetworks/${name}`,
  );
  if (!found) throw new CloudError('notFound', `The resource '${path}' was not found`, 404);
  if (found.region === regionOf(zone)) return found;
  const apart = `The referenced subnetwork resource '${path}' is not in the region of ${zone}.`;
  throw invalid('networkInterfaces[0].subnetwork', apart);
}

function nestedOf({ name, nested }: MachineSize, { advancedMachineFeatures }: Body): boolean {
  if (advancedMachineFeatures?.enableNestedVirtualization !== true) return false;
  if (nested) return true;
  const refused = `Nested virtualization is not supported for machine type ${name}.`;
  throw invalid('advancedMachineFeatures.enableNestedVirtualization', refused);
}

function refuseScheduling({ name }: MachineSize, { scheduling }: Body): void {
  if (scheduling?.instanceTerminationAction !== undefined) {
    const refused =
      'You cannot specify a termination action for a VM instance that has the standard provisioning model (default).';
    throw invalid('scheduling.instanceTerminationAction', refused);
  }
  if (isMetal(name) && scheduling?.onHostMaintenance !== 'TERMINATE') {
    const refused = `Machine type ${name} does not support live migration.`;
    throw invalid('scheduling.onHostMaintenance', refused);
  }
}

function diskOf(disk: InstanceBody['disks'][number], index: number, size: MachineSize): Disk {
  const { autoDelete, initializeParams } = disk;
  const type = initializeParams.diskType.split('/').at(-1) ?? '';
  if (needsHyperdisk(size.name) && !type.startsWith('hyperdisk-')) {
    const refused = `[${type}] features are not compatible for creating instance.`;
    throw new CloudError('badRequest', refused);
  }
  if (index > 0 && initializeParams.diskSizeGb === undefined) {
    throw invalid(`disks[${index}].initializeParams.diskSizeGb`, 'A blank disk needs a size.');
  }
  return { autoDelete: autoDelete ?? false, labels: initializeParams.labels };
}

/** Throws invalid for labels that cannot be. */
export function labelsOf(
  labels: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const entries = Object.entries(labels);
  if (entries.length > 64) throw invalid('labels', 'There are more than 64 labels.');
  for (const [key, value] of entries) {
    if (!/^[a-z][a-z0-9_-]{0,62}$/.test(key)) throw invalid('labels', `Label key '${key}' is bad.`);
    if (!/^[a-z0-9_-]{0,63}$/.test(value)) {
      throw invalid('labels', `Label value '${value}' violates format constraints.`);
    }
  }
  return labels;
}

function metadataOf(items: Launch['metadata']): Launch['metadata'] {
  const total = items.reduce((sum, { key, value }) => sum + key.length + value.length, 0);
  if (total > 524_288) throw invalid('metadata', 'Metadata is larger than 512 KiB.');
  for (const { key, value } of items) {
    if (!/^[A-Za-z0-9_-]{1,127}$/.test(key)) throw invalid('metadata.items.key', key);
    if (value.length > 262_144) throw invalid('metadata.items.value', `${key} is over 256 KiB.`);
  }
  return items;
}

function serviceAccountOf({ serviceAccounts = [] }: Body): string | undefined {
  const [account] = serviceAccounts;
  if (!account || /@/.test(account.email)) return account?.email;
  const bad = `The user does not have access to service account '${account.email}'.`;
  throw new CloudError('invalid', bad);
}

function invalid(field: string, message: string): CloudError {
  return new CloudError('invalid', `Invalid value for field 'resource.${field}': ${message}`);
}
