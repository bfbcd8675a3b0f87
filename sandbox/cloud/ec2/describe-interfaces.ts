/** How network interfaces look in answers. Element names: EC2 API reference, data type NetworkInterface. */
import { items, type XmlTree } from '../wire/xml.ts';
import type { Ec2Interface } from './interfaces.ts';
import { type Facts, filtered, page, tagSet } from './lists.ts';
import type { Parameters } from './parameters.ts';

export function describeInterfaces(parameters: Parameters, all: readonly Ec2Interface[]): XmlTree {
  const found = filtered(all, parameters, factsOf, ({ tags }) => tags);
  const { page: shown, nextToken } = page(found, parameters, { least: 5, most: 1000 });
  return { networkInterfaceSet: items(shown.map(interfaceTree)), nextToken };
}

const statusOf = ({ instance }: Ec2Interface): string =>
  instance === undefined ? 'available' : 'in-use';

function factsOf(one: Ec2Interface): Facts {
  return {
    'network-interface-id': one.id,
    'availability-zone': one.zone,
    'subnet-id': one.subnet,
    'attachment.instance-id': one.instance,
    status: statusOf(one),
  };
}

function interfaceTree(one: Ec2Interface): XmlTree {
  const { id, zone, subnet, tags, instance, deletedOnTermination } = one;
  return {
    networkInterfaceId: id,
    subnetId: subnet,
    availabilityZone: zone,
    status: statusOf(one),
    ...(instance !== undefined && {
      attachment: {
        instanceId: instance,
        deviceIndex: 0,
        status: 'attached',
        deleteOnTermination: deletedOnTermination,
      },
    }),
    tagSet: tagSet(tags),
  };
}
