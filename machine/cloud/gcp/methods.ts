import { methodsOf } from '../../gcp/rest.ts';

const zonal = 'projects/{project}/zones/{zone}';

const method = methodsOf('compute');

/**
 * Every method that is called, and the permissions that its calls need. docs/tasks/gcp-role.yaml is the same
 * list as a role.
 *
 * Source: Compute Engine API reference v1, request and "IAM permissions" of each method.
 */
export const computeMethods = {
  insert: method('instances.insert', 'POST', `${zonal}/instances`, [
    'compute.instances.create',
    'compute.instances.setLabels',
    'compute.instances.setMetadata',
    'compute.instances.setTags',
    'compute.instances.setServiceAccount',
    'compute.disks.create',
    'compute.disks.setLabels',
    'compute.images.useReadOnly',
    'compute.subnetworks.use',
    'compute.subnetworks.useExternalIp',
    'iam.serviceAccounts.actAs',
  ]),
  get: method('instances.get', 'GET', `${zonal}/instances/{instance}`, ['compute.instances.get']),
  delete: method('instances.delete', 'DELETE', `${zonal}/instances/{instance}`, [
    'compute.instances.delete',
  ]),
  setLabels: method('instances.setLabels', 'POST', `${zonal}/instances/{instance}/setLabels`, [
    'compute.instances.setLabels',
  ]),
  aggregatedList: method(
    'instances.aggregatedList',
    'GET',
    'projects/{project}/aggregated/instances',
    ['compute.instances.list'],
  ),
  disks: method('disks.aggregatedList', 'GET', 'projects/{project}/aggregated/disks', [
    'compute.disks.list',
  ]),
  deleteDisk: method('disks.delete', 'DELETE', `${zonal}/disks/{disk}`, ['compute.disks.delete']),
  operation: method('zoneOperations.get', 'GET', `${zonal}/operations/{operation}`, [
    'compute.zoneOperations.get',
  ]),
  machineTypes: method('machineTypes.list', 'GET', `${zonal}/machineTypes`, [
    'compute.machineTypes.list',
  ]),
  zones: method('zones.list', 'GET', 'projects/{project}/zones', ['compute.zones.list']),
  subnetwork: method(
    'subnetworks.get',
    'GET',
    'projects/{project}/regions/{region}/subnetworks/{subnetwork}',
    ['compute.subnetworks.get'],
  ),
  image: method('images.get', 'GET', 'projects/{project}/global/images/{image}', [
    'compute.images.get',
  ]),
  imageOfFamily: method(
    'images.getFromFamily',
    'GET',
    'projects/{project}/global/images/family/{family}',
    ['compute.images.getFromFamily'],
  ),
  images: method('images.list', 'GET', 'projects/{project}/global/images', ['compute.images.list']),
  // whoever asks what they may do needs no permission for it
  mayUseSubnetwork: method(
    'subnetworks.testIamPermissions',
    'POST',
    'projects/{project}/regions/{region}/subnetworks/{subnetwork}/testIamPermissions',
    [],
  ),
  mayUseImage: method(
    'images.testIamPermissions',
    'POST',
    'projects/{project}/global/images/{image}/testIamPermissions',
    [],
  ),
} as const;
