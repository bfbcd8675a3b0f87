import type { Image } from '@aws-sdk/client-ec2';

import type { MachineType } from '#schemas/instances/instance-type.ts';
import type { ResolvedImage } from '#schemas/nodeclass/types.ts';

import { NodeClassError } from '../../errors.ts';
import { faults } from '../../faults.ts';
import { architectureOf } from './instance-types.ts';

/**
 * An image as a revision keeps it, once it is sure that sizes can start it: EC2 would else refuse each launch, or start
 * what never answers.
 *
 * @throws NodeClassError that names what the image lacks
 */
export function usableImage(image: Image): ResolvedImage {
  const { ImageId: id = '', Name: name, RootDeviceName: rootDeviceName, BootMode } = image;
  const architecture = architectureOf([image.Architecture]);
  const lack = lackOf(image);
  if (lack !== undefined || architecture === undefined || rootDeviceName === undefined) {
    const what = lack ?? 'is no machine image for x86_64 or arm64 with a root device';
    throw new NodeClassError(faults.imageUnusable, `Image ${id} (${image.Architecture}) ${what}`);
  }
  const bootMode = BootMode === 'uefi' || BootMode === 'legacy-bios' ? BootMode : undefined;
  return {
    id,
    ...(name === undefined ? {} : { name }),
    architecture,
    rootDeviceName,
    ...(bootMode && { bootMode }),
  };
}

/** Every size that can run guests is of the Nitro system: it starts hvm images from EBS, and ENA is its network. */
function lackOf({ RootDeviceType, VirtualizationType, EnaSupport }: Image): string | undefined {
  if ((RootDeviceType ?? 'ebs') !== 'ebs')
    return `has its root device in ${RootDeviceType}, not in EBS`;
  if ((VirtualizationType ?? 'hvm') !== 'hvm')
    return `is virtualised by ${VirtualizationType}, not hvm`;
  if (EnaSupport === false)
    return 'has no driver for the Elastic Network Adapter (enaSupport is false)';
  return undefined;
}

/** Whether a size can start an image: it is of the same architecture and has the firmware that the image needs. */
export function canStart(type: MachineType, { architecture, bootMode }: ResolvedImage): boolean {
  if (type.architecture !== architecture) return false;
  return bootMode === undefined || (type.bootModes?.includes(bootMode) ?? true);
}
