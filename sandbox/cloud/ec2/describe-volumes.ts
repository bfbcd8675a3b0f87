/** How disks look in answers. Element names: EC2 API reference, data type Volume. */
import { items, type XmlTree } from '../wire/xml.ts';
import { type Facts, filtered, page, tagSet } from './lists.ts';
import type { Parameters } from './parameters.ts';
import type { Ec2Volume } from './volumes.ts';

export function describeVolumes(parameters: Parameters, all: readonly Ec2Volume[]): XmlTree {
  const found = filtered(all, parameters, factsOf, ({ tags }) => tags);
  const { page: shown, nextToken } = page(found, parameters, { least: 5, most: 1000 });
  return { volumeSet: items(shown.map(volumeTree)), nextToken };
}

const statusOf = ({ instance }: Ec2Volume): string =>
  instance === undefined ? 'available' : 'in-use';

function factsOf(volume: Ec2Volume): Facts {
  return {
    'volume-id': volume.id,
    'availability-zone': volume.zone,
    'attachment.instance-id': volume.instance,
    status: statusOf(volume),
  };
}

function volumeTree(volume: Ec2Volume): XmlTree {
  const { id, zone, createdAt, tags, instance, device, deletedOnTermination } = volume;
  const attachment = instance !== undefined && {
    volumeId: id,
    instanceId: instance,
    device,
    status: 'attached',
    deleteOnTermination: deletedOnTermination,
  };
  return {
    volumeId: id,
    availabilityZone: zone,
    createTime: createdAt,
    status: statusOf(volume),
    attachmentSet: items(attachment ? [attachment] : []),
    tagSet: tagSet(tags),
  };
}
