import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { tags } from '#schemas/names.ts';
import type { BlockDevice } from '#schemas/nodeclass/types.ts';

import type { Candidate } from '../../machine.ts';
import { candidate, identity, nodeClass } from '../../testing/machines.ts';
import { clientToken } from './client-token.ts';
import { runInstancesInput } from './launch.ts';

const input = (aws: Parameters<typeof nodeClass>[0] = {}, rest = {}, change = {}) => {
  const resolved = nodeClass(aws, rest);
  const request = {
    identity,
    nodeClass: resolved,
    candidate: { ...candidate, ...change },
    userData: '#cloud-config\n',
  };
  return runInstancesInput(request, resolved.spec.aws!);
};

describe('the call that makes a machine', () => {
  test('tags everything it makes, and a user’s tag never hides whose it is', () => {
    const { TagSpecifications } = input({}, { tags: { [tags.cluster]: 'mine', team: 'shop' } });

    expect(TagSpecifications?.map(({ ResourceType }) => ResourceType)).toEqual([
      'instance',
      'volume',
      'network-interface',
    ]);
    for (const { Tags = [] } of TagSpecifications ?? []) {
      expect(Object.fromEntries(Tags.map(({ Key, Value }) => [Key, Value]))).toEqual({
        Name: 'web-3f2a91c0',
        team: 'shop',
        [tags.cluster]: identity.clusterUid,
        [tags.claimUid]: identity.claimUid,
        [tags.claim]: 'web-x7k2p',
        [tags.nodePool]: 'web',
        [tags.nodeClass]: 'default',
      });
    }
  });

  test('asks bare metal for no nested virtualisation, which it would refuse', () => {
    expect(input({}, {}, { metal: true, instanceType: 'm5.metal' })).not.toHaveProperty(
      'CpuOptions',
    );
  });

  test('writes every disk out: sizes rounded up, root first, the rest by letter', () => {
    const blockDevices: BlockDevice[] = [
      { volumeSize: '20Gi' },
      { volumeSize: '1500M', volumeType: 'io2', iops: 300 },
    ];

    expect(input({ blockDevices }).BlockDeviceMappings).toEqual([
      {
        DeviceName: '/dev/xvda',
        Ebs: { VolumeType: 'gp3', Encrypted: true, DeleteOnTermination: true, VolumeSize: 20 },
      },
      {
        DeviceName: '/dev/sdf',
        Ebs: {
          VolumeType: 'io2',
          Encrypted: true,
          DeleteOnTermination: true,
          VolumeSize: 2,
          Iops: 300,
        },
      },
    ]);
  });

  test('ends the root disk with the machine also when only others are named', () => {
    const devices = input({ blockDevices: [{ deviceName: '/dev/sdz', volumeSize: '1Gi' }] });

    expect(devices.BlockDeviceMappings?.map(({ DeviceName }) => DeviceName)).toEqual([
      '/dev/xvda',
      '/dev/sdz',
    ]);
    expect(devices.BlockDeviceMappings?.[0]?.Ebs?.DeleteOnTermination).toBe(true);
  });

  test('asks for a public address only when names point there', () => {
    const external = input({}, { dns: { ...nodeClass().spec.dns, addressType: 'External' } });

    expect(external.NetworkInterfaces).toMatchObject([
      { SubnetId: 'subnet-a', Groups: ['sg-1'], AssociatePublicIpAddress: true },
    ]);
    expect(external).not.toHaveProperty('SubnetId');
    expect(input()).toMatchObject({ SubnetId: 'subnet-a', SecurityGroupIds: ['sg-1'] });
  });

  test('takes a profile by name or ARN, and a preference for reservations', () => {
    expect(input({ instanceProfile: 'machine' }).IamInstanceProfile).toEqual({ Name: 'machine' });
    expect(input({ instanceProfile: 'arn:aws:iam::1:p/m' }).IamInstanceProfile).toEqual({
      Arn: 'arn:aws:iam::1:p/m',
    });
    expect(
      input({ capacityReservationPreference: 'none' }).CapacityReservationSpecification,
    ).toEqual({
      CapacityReservationPreference: 'none',
    });
  });
});

describe('a client token', () => {
  const candidates = fc.record<Candidate>({
    attempt: fc.nat(3),
    instanceType: fc.constantFrom('m8i.large', 'm8i.xlarge'),
    zone: fc.constantFrom('a', 'b'),
    subnet: fc.constantFrom('subnet-a', 'subnet-b'),
    metal: fc.constant(false),
  });

  test('is the same exactly for the same try', () => {
    fc.assert(
      fc.property(candidates, candidates, (one, two) => {
        const isSame = JSON.stringify(one) === JSON.stringify(two);
        expect(clientToken(identity, one, {}) === clientToken(identity, two, {})).toBe(isSame);
      }),
    );
  });

  test('does not see the order of parameters, and sees their values', () => {
    const token = (parameters: object) => clientToken(identity, candidate, parameters);

    expect(token({ a: 1, b: { c: 2, d: 3 } })).toBe(token({ b: { d: 3, c: 2 }, a: 1 }));
    expect(token({ a: 1 })).not.toBe(token({ a: 2 }));
    expect(token({ list: [1, 2] })).not.toBe(token({ list: [2, 1] }));
  });

  test('is another one for another claim or cluster', () => {
    const token = (who: object) => clientToken({ ...identity, ...who }, candidate, {});

    expect(new Set([token({}), token({ claimUid: 'x' }), token({ clusterUid: 'x' })]).size).toBe(3);
  });
});
