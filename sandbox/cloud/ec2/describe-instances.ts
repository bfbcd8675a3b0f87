/** How instances look in answers. Element names: EC2 API reference, data types Instance and InstanceStatus. */
import { CloudError } from '../wire/service.ts';
import { items, type XmlTree } from '../wire/xml.ts';
import type { Account } from './account.ts';
import { type Ec2Instance, type State, states } from './instance.ts';
import { type Facts, filtered, page, tagSet } from './lists.ts';
import type { Parameters } from './parameters.ts';

export function describeInstances(
  parameters: Parameters,
  account: Account,
  visible: readonly Ec2Instance[],
): XmlTree {
  const ids = parameters.list('InstanceId');
  if (ids.length > 0 && parameters.text('MaxResults') !== undefined) {
    const both = 'The parameter instancesSet cannot be used with the parameter maxResults';
    throw new CloudError('InvalidParameterCombination', both);
  }
  const named = ids.length > 0 ? byId(ids, visible) : visible;
  const found = filtered(named, parameters, factsOf, ({ tags }) => tags);
  const { page: shown, nextToken } = page(found, parameters, { least: 5, most: 1000 });
  const reservations = Map.groupBy(shown, ({ reservation }) => reservation);
  return {
    reservationSet: items(
      [...reservations].map(([id, instances]) => reservationTree(id, instances, account)),
    ),
    nextToken,
  };
}

/** Throws InvalidInstanceID.* for the first id that cannot be found. */
export function byId(ids: readonly string[], known: readonly Ec2Instance[]): Ec2Instance[] {
  return ids.map((id) => {
    if (!/^i-[0-9a-f]{8,17}$/.test(id)) {
      throw new CloudError('InvalidInstanceID.Malformed', `Invalid id: "${id}"`);
    }
    const instance = known.find((one) => one.id === id);
    if (instance) return instance;
    throw new CloudError('InvalidInstanceID.NotFound', `The instance ID '${id}' does not exist`);
  });
}

function factsOf({ id, state, launch, address, reservation }: Ec2Instance): Facts {
  return {
    'instance-id': id,
    'instance-state-name': state,
    'instance-type': launch.size.type,
    'image-id': launch.image.id,
    'client-token': launch.clientToken,
    'subnet-id': launch.subnet.id,
    'vpc-id': launch.subnet.vpc,
    'availability-zone': launch.subnet.zone,
    'private-ip-address': address,
    'reservation-id': reservation,
    'instance.group-id': launch.groups.map((group) => group.id),
    architecture: launch.image.architecture,
  };
}

export function reservationTree(
  id: string,
  instances: readonly Ec2Instance[],
  account: Account,
): XmlTree {
  return {
    reservationId: id,
    ownerId: account.id,
    instancesSet: items(instances.map(instanceTree)),
  };
}

function instanceTree(instance: Ec2Instance): XmlTree {
  const { launch, state, reason } = instance;
  const { image, size, subnet } = launch;
  return {
    instanceId: instance.id,
    imageId: image.id,
    instanceState: stateTree(state),
    instanceType: size.type,
    launchTime: instance.launchedAt,
    placement: {
      availabilityZone: subnet.zone,
      availabilityZoneId: subnet.zoneId,
      tenancy: 'default',
    },
    ...networkOf(instance),
    reason: reason?.message ?? '',
    stateReason: reason && { code: reason.code, message: reason.message },
    architecture: image.architecture,
    rootDeviceType: 'ebs',
    rootDeviceName: image.rootDevice,
    virtualizationType: 'hvm',
    hypervisor: 'xen',
    clientToken: launch.clientToken ?? '',
    tagSet: tagSet(instance.tags),
    groupSet: items(launch.groups.map(({ id, name }) => ({ groupId: id, groupName: name }))),
    cpuOptions: {
      coreCount: Math.max(1, size.vcpus / 2),
      threadsPerCore: 2,
      nestedVirtualization: launch.nested ? 'enabled' : undefined,
    },
    metadataOptions: {
      state: 'applied',
      httpTokens: launch.metadata.tokens,
      httpPutResponseHopLimit: launch.metadata.hopLimit,
      httpEndpoint: 'enabled',
      instanceMetadataTags: launch.metadata.tags,
    },
  };
}

/** A terminated instance has no place in the network any more. */
function networkOf({ launch, address, state }: Ec2Instance): XmlTree {
  if (state === 'terminated') return {};
  const { id, vpc } = launch.subnet;
  // one loopback address is both: there is no other way to the machine
  const ipAddress = launch.public ? address : undefined;
  return { subnetId: id, vpcId: vpc, privateIpAddress: address, ipAddress };
}

export function stateTree(state: State): XmlTree {
  return { code: states[state], name: state };
}

export function describeInstanceStatus(
  parameters: Parameters,
  visible: readonly Ec2Instance[],
): XmlTree {
  const ids = parameters.list('InstanceId');
  const named = ids.length > 0 ? byId(ids, visible) : visible;
  const all = parameters.flag('IncludeAllInstances') ?? false;
  const shown = filtered(named, parameters, factsOf).filter(
    ({ state }) => all || state === 'running',
  );
  const { page: statuses, nextToken } = page(shown, parameters, { least: 5, most: 1000 });
  return { instanceStatusSet: items(statuses.map(statusTree)), nextToken };
}

function statusTree({ id, launch, state, impairedSince, events }: Ec2Instance): XmlTree {
  const impaired = impairedSince !== undefined;
  const status = impaired ? 'failed' : 'passed';
  const check = {
    status: impaired ? 'impaired' : 'ok',
    details: items([{ name: 'reachability', status, impairedSince: impairedSince?.toISOString() }]),
  };
  return {
    instanceId: id,
    availabilityZone: launch.subnet.zone,
    instanceState: stateTree(state),
    systemStatus: { status: 'ok' },
    instanceStatus: check,
    eventsSet: items(
      events.map((event, index) => ({ instanceEventId: `instance-event-0${index}`, ...event })),
    ),
  };
}
