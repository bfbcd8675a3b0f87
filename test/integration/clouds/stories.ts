/**
 * What the operator relies on in AWS, told to whoever calls itself so. Each story is what the real one does, by its
 * documents or by what users report; an endpoint that tells it otherwise is wrong.
 */
import {
  DescribeInstancesCommand,
  RunInstancesCommand,
  type RunInstancesCommandInput,
  TerminateInstancesCommand,
} from '@aws-sdk/client-ec2';
import {
  type Change,
  ChangeResourceRecordSetsCommand,
  ListResourceRecordSetsCommand,
} from '@aws-sdk/client-route-53';
import { expect } from 'vitest';

import type { Instance, MachineIdentity } from '#machine/machine.ts';
import { spec } from '#machine/testing/machines.ts';
import { tags } from '#schemas/names.ts';
import type { ImageSelectorTerm, ResolvedNodeClass } from '#schemas/nodeclass/types.ts';
import { milliseconds } from '#schemas/time/clock.ts';

import { type Place, role } from './places.ts';

export type Story = (place: Place) => Promise<void>;

const signal = new AbortController().signal;
const size = 'm8i.xlarge';
let machines = 0;

async function resolved(
  { cloud, zoneID }: Place,
  change: Partial<NonNullable<typeof spec.aws>> = { blockDevices: [{ volumeSize: '20Gi' }] },
  term: ImageSelectorTerm = { name: 'unikraft-platform-*', owner: '123456789012' },
): Promise<ResolvedNodeClass> {
  const terms = [{ tags: { 'karpenter.sh/discovery': 'sandbox' } }];
  const aws = {
    ...spec.aws!,
    subnetSelectorTerms: terms,
    securityGroupSelectorTerms: terms,
    ...change,
  };
  const image = { selectorTerms: [term] };
  const full = { ...spec, aws, image };
  const placement = await cloud.resolve(full, signal);
  return { nodeClass: 'default', spec: full, ...placement, dnsZoneID: zoneID };
}

/** Whose machine no story before had. */
function somebody(): MachineIdentity {
  machines += 1;
  const name = `web-${machines}`;
  const claimUid = `uid-${machines}`;
  return {
    name,
    claim: name,
    claimUid,
    nodePool: 'web',
    nodeClass: 'default',
    clusterUid: 'stories',
  };
}

async function launched(
  place: Place,
  identity = somebody(),
): Promise<{ nodeClass: ResolvedNodeClass; identity: MachineIdentity; made: Instance }> {
  const nodeClass = await resolved(place);
  const { id: subnet = '', zone = '' } = nodeClass.subnets[0] ?? {};
  const candidate = { attempt: 1, instanceType: size, zone, subnet, metal: false };
  const made = await place.cloud.launch(
    { identity, nodeClass, candidate, userData: '#cloud-config\n' },
    signal,
  );
  return { nodeClass, identity, made };
}

/** A launch by hand. */
async function input(place: Place, change: Partial<RunInstancesCommandInput> = {}) {
  const { image, subnets, securityGroups } = await resolved(place);
  return new RunInstancesCommand({
    MinCount: 1,
    MaxCount: 1,
    ImageId: image.id,
    InstanceType: size,
    SubnetId: subnets[0]!.id,
    SecurityGroupIds: securityGroups,
    ...change,
  });
}

const record = (
  Action: Change['Action'],
  Name: string,
  value: string,
  Type: 'A' | 'CNAME' | 'TXT' = 'A',
): Change => ({
  Action,
  ResourceRecordSet: { Name, Type, TTL: 60, ResourceRecords: [{ Value: value }] },
});
const change = async ({ route53, zoneID }: Place, ...Changes: Change[]) =>
  route53.send(
    new ChangeResourceRecordSetsCommand({ HostedZoneId: zoneID, ChangeBatch: { Changes } }),
  );
async function valuesOf({ route53, zoneID }: Place, name: string): Promise<string[]> {
  const list = new ListResourceRecordSetsCommand({ HostedZoneId: zoneID });
  const { ResourceRecordSets = [] } = await route53.send(list);
  const found = ResourceRecordSets.filter(({ Name, Type }) => Name === `${name}.` && Type === 'A');
  return found.flatMap(({ ResourceRecords = [] }) =>
    ResourceRecords.map(({ Value = '' }) => Value),
  );
}
/** Orders to a zone are collected for a moment of the clock. */
async function collected(place: Place, work: Promise<unknown>): Promise<void> {
  work.catch(() => {}); // looked at below
  for (let moment = 0; moment < 20; moment += 1) {
    // oxlint-disable-next-line no-await-in-loop -- calls are answered in real time between moments
    await place.clock.forward(milliseconds(200));
    // oxlint-disable-next-line no-await-in-loop
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await work;
}
const named = ({ zoneName }: Place): string => `api.${somebody().name}.${zoneName}`;

export const stories: Readonly<Record<string, Story>> = {
  'EC2: a class finds its image, the subnets of three zones and its group': async (place) => {
    const found = await resolved(place);
    expect(found.image).toMatchObject({ architecture: 'amd64', rootDeviceName: '/dev/xvda' });
    expect(new Set(found.subnets.map(({ zone }) => zone)).size).toBe(3);
    expect(found.securityGroups).toHaveLength(1);
  },
  'EC2: a class of which no subnet is tagged says so': async (place) => {
    const nodeClass = await resolved(place);
    const aws = { ...nodeClass.spec.aws!, subnetSelectorTerms: [{ tags: { no: 'such' } }] };
    await expect(place.cloud.resolve({ ...nodeClass.spec, aws }, signal)).rejects.toMatchObject({
      code: 'KPU230',
    });
  },
  'EC2: sizes with nested virtualisation are on sale, those without are not': async (place) => {
    const sizes = await place.cloud.sizes(await resolved(place), signal);
    const names = sizes.map(({ type }) => type.name);
    expect(names).toContain(size);
    expect(names).not.toContain('m5.large');
    expect(sizes.find(({ type }) => type.name === size)).toMatchObject({
      type: { vcpus: 4, memoryMiB: 16_384, nested: true, metal: false },
    });
  },
  'EC2: bare metal is on sale': async (place) => {
    const sizes = await place.cloud.sizes(await resolved(place), signal);
    expect(sizes.filter(({ type }) => type.metal).map(({ type }) => type.name)).toContain(
      'm5.metal',
    );
  },
  'EC2: a root disk without a size is as large as the image': async (place) => {
    const nodeClass = await resolved(place, {});
    const { id: subnet = '', zone = '' } = nodeClass.subnets[0] ?? {};
    const candidate = { attempt: 1, instanceType: size, zone, subnet, metal: false };
    const request = { identity: somebody(), nodeClass, candidate, userData: '' };
    expect(await place.cloud.launch(request, signal)).toMatchObject({ state: 'pending' });
  },
  'EC2: what is launched is found by the tags of its claim, and listed for its cluster': async (
    place,
  ) => {
    const { made, nodeClass, identity } = await launched(place);
    await place.settle();
    const found = await place.cloud.find(nodeClass, identity, signal);
    expect(found).toMatchObject([{ id: made.id, state: 'running', instanceType: size }]);
    expect(found[0]?.tags).toMatchObject({
      [tags.claim]: identity.claim,
      [tags.cluster]: 'stories',
    });
    const listed = await place.cloud.snapshot(nodeClass, 'stories', signal);
    expect(listed.map(({ id }) => id)).toContain(made.id);
    expect(await place.cloud.find(nodeClass, somebody(), signal)).toEqual([]);
  },
  'EC2: an instance that has nested virtualisation says so': async (place) => {
    const { nodeClass, identity } = await launched(place);
    await place.settle();
    expect(await place.cloud.find(nodeClass, identity, signal)).toMatchObject([
      { runsGuests: true },
    ]);
  },
  'EC2: the same launch again is the same instance': async (place) => {
    const identity = somebody();
    const [first, second] = [await launched(place, identity), await launched(place, identity)];
    expect(second.made.id).toBe(first.made.id);
  },
  'EC2: the token of another launch is refused': async (place) => {
    const ClientToken = `token-${somebody().name}`;
    await place.ec2.send(await input(place, { ClientToken }));
    await expect(
      place.ec2.send(await input(place, { ClientToken, InstanceType: 'm8i.2xlarge' })),
    ).rejects.toMatchObject({ name: 'IdempotentParameterMismatch' });
  },
  'EC2: an end can be asked for twice, and the instance stays listed as terminated': async (
    place,
  ) => {
    const { made, nodeClass, identity } = await launched(place);
    await place.settle();
    await place.cloud.terminate(nodeClass, { ...identity, id: made.id }, signal);
    await place.cloud.terminate(nodeClass, { ...identity, id: made.id }, signal);
    await place.settle();
    expect(await place.cloud.find(nodeClass, identity, signal)).toMatchObject([
      { state: 'terminated' },
    ]);
  },
  'EC2: the end of an instance that never was is no error': async (place) => {
    await place.cloud.terminate(
      await resolved(place),
      { ...somebody(), id: 'i-0123456789abcdef0' },
      signal,
    );
  },
  'EC2: a rehearsal passes and makes nothing': async (place) => {
    const nodeClass = await resolved(place);
    const before = await place.cloud.snapshot(nodeClass, 'rehearsing', signal);
    await place.cloud.rehearse(nodeClass, 'rehearsing', signal);
    await place.clock.forward(milliseconds(3000));
    expect(await place.cloud.snapshot(nodeClass, 'rehearsing', signal)).toEqual(before);
    const asked = place.ec2.send(await input(place, { DryRun: true }));
    await expect(asked).rejects.toMatchObject({ name: 'DryRunOperation' });
  },
  'EC2: an instance that lost a tag gets it again': async (place) => {
    const { made, nodeClass, identity } = await launched(place);
    const [bare] = await place.cloud.care.byId(nodeClass, [made.id], signal);
    const lost = { ...bare!, tags: { ...bare!.tags, [tags.claim]: '' } };
    expect(await place.cloud.care.retag(nodeClass, lost, identity, signal)).toEqual([tags.claim]);
    const [again] = await place.cloud.care.byId(nodeClass, [made.id], signal);
    expect(again?.tags[tags.claim]).toBe(identity.claim);
  },
  'EC2: instances by id pass over those that are not there': async (place) => {
    const { made, nodeClass } = await launched(place);
    const ids = [made.id, 'i-0123456789abcdef0'];
    expect(await place.cloud.care.byId(nodeClass, ids, signal)).toMatchObject([{ id: made.id }]);
  },
  'EC2: an instance that runs has no trouble': async (place) => {
    const { made, nodeClass } = await launched(place);
    await place.settle();
    expect(await place.cloud.care.troubles(nodeClass, [made.id], signal)).toEqual([]);
  },
  'EC2: disks are made as they are asked for, tagged': async (place) => {
    const { made } = await launched(place);
    const { Reservations } = await place.ec2.send(
      new DescribeInstancesCommand({ InstanceIds: [made.id] }),
    );
    expect(Reservations?.[0]?.Instances?.[0]).toMatchObject({
      RootDeviceName: '/dev/xvda',
      MetadataOptions: { HttpTokens: 'required', HttpPutResponseHopLimit: 1 },
    });
  },
  'EC2: an instance that is not there is refused by name': async ({ ec2 }) => {
    const InstanceIds = ['i-0123456789abcdef0'];
    const refusal = { name: 'InvalidInstanceID.NotFound' };
    await expect(ec2.send(new DescribeInstancesCommand({ InstanceIds }))).rejects.toMatchObject(
      refusal,
    );
    await expect(ec2.send(new TerminateInstancesCommand({ InstanceIds }))).rejects.toMatchObject(
      refusal,
    );
  },
  'EC2: an image that is not there is refused by name': async (place) => {
    await expect(
      place.ec2.send(await input(place, { ImageId: 'ami-0123456789abcdef0' })),
    ).rejects.toMatchObject({ name: 'InvalidAMIID.NotFound' });
  },
  'EC2: a subnet that is not there is refused by name': async (place) => {
    await expect(
      place.ec2.send(await input(place, { SubnetId: 'subnet-0123456789abcdef0' })),
    ).rejects.toMatchObject({ name: 'InvalidSubnetID.NotFound' });
  },
  'EC2: a group that is not there is refused by name': async (place) => {
    await expect(
      place.ec2.send(await input(place, { SecurityGroupIds: ['sg-0123456789abcdef0'] })),
    ).rejects.toMatchObject({ name: 'InvalidGroup.NotFound' });
  },
  'EC2: a size of another architecture than the image is refused': async (place) => {
    await expect(
      place.ec2.send(await input(place, { InstanceType: 'm7g.large' })),
    ).rejects.toMatchObject({
      name: 'InvalidParameterValue',
    });
  },
  'EC2: nested virtualisation is refused where a size has none': async (place) => {
    const CpuOptions = { NestedVirtualization: 'enabled' } as const;
    await expect(
      place.ec2.send(await input(place, { InstanceType: 'm6i.large', CpuOptions })),
    ).rejects.toMatchObject({
      name: expect.stringMatching(/^Unsupported|^InvalidParameter/) as string,
    });
  },

  'Route 53: a zone is found by its name and may be written to': async (place) => {
    expect(await place.dns.resolveZone(place.zoneName, undefined, signal)).toBe(place.zoneID);
  },
  'Route 53: a zone that is not there is not found': async (place) => {
    await expect(place.dns.resolveZone('no.such.test', undefined, signal)).rejects.toMatchObject({
      code: 'KPU240',
    });
  },
  'Route 53: a name is written, changed and taken away, with who owns it': async (place) => {
    const name = named(place);
    const owner = { clusterUid: 'stories', claimUid: name };
    const write = async (address: string) =>
      collected(place, place.dns.upsert(place.zoneID, [{ name, address, ttl: 60 }], owner, signal));
    await write('10.0.0.1');
    expect(await valuesOf(place, name)).toEqual(['10.0.0.1']);
    await write('10.0.0.2');
    expect(await valuesOf(place, name)).toEqual(['10.0.0.2']);
    await collected(place, place.dns.remove(place.zoneID, [name], owner, signal));
    expect(await valuesOf(place, name)).toEqual([]);
  },
  'Route 53: a name of somebody else is left alone': async (place) => {
    const name = named(place);
    await change(place, record('CREATE', name, '192.0.2.1'));
    const owner = { clusterUid: 'stories', claimUid: name };
    const write = place.dns.upsert(
      place.zoneID,
      [{ name, address: '10.0.0.1', ttl: 60 }],
      owner,
      signal,
    );
    await expect(collected(place, write)).rejects.toMatchObject({ code: 'KPU323' });
    expect(await valuesOf(place, name)).toEqual(['192.0.2.1']);
  },
  'Route 53: a batch happens whole or not at all': async (place) => {
    const name = named(place);
    await expect(
      change(place, record('CREATE', name, '10.0.0.1'), record('CREATE', name, '10.0.0.1')),
    ).rejects.toMatchObject({ name: 'InvalidChangeBatch' });
    expect(await valuesOf(place, name)).toEqual([]);
  },
  'Route 53: what is there cannot be created': async (place) => {
    const name = named(place);
    await change(place, record('CREATE', name, '10.0.0.1'));
    await expect(change(place, record('CREATE', name, '10.0.0.1'))).rejects.toMatchObject({
      name: 'InvalidChangeBatch',
    });
  },
  'Route 53: only what is there, to the value, can be deleted': async (place) => {
    const name = named(place);
    await change(place, record('CREATE', name, '10.0.0.1'));
    await expect(change(place, record('DELETE', name, '10.0.0.9'))).rejects.toMatchObject({
      name: 'InvalidChangeBatch',
    });
  },
  'Route 53: what is not there cannot be deleted': async (place) => {
    await expect(change(place, record('DELETE', named(place), '10.0.0.1'))).rejects.toMatchObject({
      name: 'InvalidChangeBatch',
    });
  },
  'Route 53: an address is an address': async (place) => {
    await expect(change(place, record('CREATE', named(place), 'nonsense'))).rejects.toMatchObject({
      name: 'InvalidChangeBatch',
    });
  },
  'Route 53: an alias stands alone under its name': async (place) => {
    const name = named(place);
    await change(place, record('CREATE', name, '10.0.0.1'));
    await expect(
      change(place, record('CREATE', name, 'other.example.com', 'CNAME')),
    ).rejects.toMatchObject({ name: 'InvalidChangeBatch' });
  },

  'SSM: the image of a class is the one that a parameter names': async (place) => {
    const named = await resolved(place);
    await place.parameter('/images/platform', 'ami-0123456789abcdef0');
    await place.parameter('/images/platform', named.image.id);
    const by = async (ssmParameter: string) => resolved(place, {}, { ssmParameter });
    expect((await by('/images/platform')).image).toEqual(named.image);
    expect((await by('/images/platform:2')).image).toEqual(named.image);
    await expect(by('/images/platform:1')).rejects.toMatchObject({ code: 'KPU220' });
  },
  'SSM: a parameter or a version that is not there is refused by name': async (place) => {
    await place.parameter('/images/one', 'ami-0123456789abcdef0');
    const by = async (ssmParameter: string) => resolved(place, {}, { ssmParameter });
    await expect(by('/images/none')).rejects.toMatchObject({ code: 'KPU213' });
    await expect(by('/images/one:7')).rejects.toMatchObject({ code: 'KPU213' });
  },
  'STS: a class is looked up by its role': async (place) => {
    expect((await resolved(place, role)).subnets).toHaveLength(3);
  },
  'STS: another external id is refused': async (place) => {
    const other = { ...role, assumeRoleExternalID: 'others' };
    await expect(resolved(place, other)).rejects.toMatchObject({ code: 'KPU214' });
  },
};
