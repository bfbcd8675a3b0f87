import {
  type EC2Client,
  type Filter,
  type Instance as Ec2Instance,
  paginateDescribeInstances,
} from '@aws-sdk/client-ec2';

import type { Instance } from '../../machine.ts';

const states: Readonly<Record<string, Instance['state']>> = {
  pending: 'pending',
  running: 'running',
  'shutting-down': 'terminating',
  terminated: 'terminated',
  stopping: 'stopping',
  stopped: 'stopped',
};

/** Every instance that carries these tags, in any state, all pages. */
export async function instancesTagged(
  ec2: EC2Client,
  region: string,
  wanted: Readonly<Record<string, string>>,
): Promise<Instance[]> {
  const filters = Object.entries(wanted).map(([key, value]) => ({
    Name: `tag:${key}`,
    Values: [value],
  }));
  return instancesWith(ec2, region, filters);
}

/** Every instance that all these filters let through, in any state, all pages. */
export async function instancesWith(
  ec2: EC2Client,
  region: string,
  Filters: Filter[],
): Promise<Instance[]> {
  const found: Instance[] = [];
  for await (const page of paginateDescribeInstances(
    { client: ec2, pageSize: 1000 },
    { Filters },
  )) {
    const instances = (page.Reservations ?? []).flatMap(
      (reservation) => reservation.Instances ?? [],
    );
    found.push(...instances.map((instance) => instanceOf(instance, region)));
  }
  return found;
}

/** An instance in our words. A state that is unknown to us counts as pending: not yet running, and not gone. */
export function instanceOf(instance: Ec2Instance, region: string): Instance {
  const { InstanceId: id = '', InstanceType: instanceType = '', ImageId: imageId = '' } = instance;
  return {
    id,
    state: states[instance.State?.Name ?? ''] ?? 'pending',
    instanceType,
    zone: instance.Placement?.AvailabilityZone ?? '',
    region,
    imageId,
    privateAddress: instance.PrivateIpAddress,
    publicAddress: instance.PublicIpAddress,
    launchedAt: instance.LaunchTime?.toISOString(),
    stateReason: reasonOf(instance),
    runsGuests: runsGuests(instance),
    tags: tagsOf(instance),
  };
}

/** Nested virtualisation is asked for at the launch and can be lost without a word (aws/containers-roadmap#2784). */
function runsGuests({ CpuOptions, InstanceType }: Ec2Instance): boolean {
  return isMetal(InstanceType ?? '') || CpuOptions?.NestedVirtualization === 'enabled';
}

/** `m5.metal`, `m8i.metal-48xl`: it has the processor to itself. */
function isMetal(instanceType: string): boolean {
  return /\.metal(-|$)/.test(instanceType);
}

/**
 * EC2 keeps the reason in one of two places, or in neither; one of them is an empty string then. The code says what a
 * person has to look at (`Client.InvalidKMSKey.InvalidState`, `Client.VolumeLimitExceeded`), so it is never left out.
 */
function reasonOf({ StateReason = {}, StateTransitionReason = '' }: Ec2Instance) {
  const { Code: code = '', Message: message = StateTransitionReason } = StateReason;
  const isSaid = code === '' || message.startsWith(code);
  const reason = isSaid ? message : `${code}: ${message}`;
  return reason === '' ? undefined : reason;
}

function tagsOf({ Tags = [] }: Ec2Instance): Record<string, string> {
  return Object.fromEntries(Tags.map(({ Key = '', Value = '' }) => [Key, Value]));
}
