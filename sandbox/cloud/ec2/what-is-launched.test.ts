import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import type { Requirement } from '#schemas/karpenter/types.ts';
import { labels } from '#schemas/names.ts';
import type { AwsSpec } from '#schemas/nodeclass/types.ts';
import { minutes } from '#schemas/time/clock.ts';

import type { Image } from './account.ts';
import { ClaimsOnEc2 } from './testing/claims-on-ec2.ts';

let world: ClaimsOnEc2;
beforeEach(async () => {
  world = await ClaimsOnEc2.start(vi.stubEnv);
});
afterEach(() => world.stop());

const signal = new AbortController().signal;
const runs = (name = 'web-1') => world.claims.condition('InstanceRunning', name)?.status === 'True';
const claimFor = async (requirement: Requirement, name = 'web-1') =>
  world.claims.claim(
    {
      spec: {
        nodeClassRef: {
          group: 'karpenter.unikraft.com',
          kind: 'UnikraftNodeClass',
          name: 'default',
        },
        requirements: [requirement],
      },
    },
    name,
  );
const sizeIs = (...values: string[]): Requirement => ({
  key: labels.instanceType,
  operator: 'In',
  values,
});
/** The account's newest image is this one. */
function publish(change: Partial<Image>): void {
  const [first] = world.ec2.account.images;
  const image = {
    id: 'ami-0c00000000000000f',
    name: 'unikraft-platform-2',
    created: '2026-11-01T08:00:00.000Z',
  };
  world.ec2.account.images[0] = { ...first!, ...image, ...change };
}

test('T18: an arm64 image on a pool of amd64 sizes has no candidate, and nothing is launched', async () => {
  publish({ architecture: 'arm64' });
  await world.resolve();
  await claimFor({ key: labels.arch, operator: 'In', values: ['amd64'] });
  await world.claims.gone();

  expect(world.claims.notes).toContainEqual(
    expect.objectContaining({ reason: 'InsufficientCapacityError' }),
  );
  expect(world.ec2.callsOf('RunInstances')).toEqual([]);
});

test('T18: an image that starts from UEFI alone is launched on sizes that have it', async () => {
  publish({ bootMode: 'uefi' });
  const nodeClass = await world.resolve();
  const sizes = await world.cloud.sizes(nodeClass, signal);
  const names = sizes.map(({ type }) => type.name);

  expect(nodeClass.image.bootMode).toBe('uefi');
  expect(names).toContain('m8i.xlarge');
  expect(names).not.toContain('c5.metal');
});

test.each([[{ ena: false }, /Elastic Network Adapter/]] as const)(
  'T18: an image with %j is refused before any launch',
  async (change, why) => {
    publish(change);
    await expect(world.resolve()).rejects.toMatchObject({
      condition: 'ImageReady',
      code: 'KPU222',
      message: expect.stringMatching(why) as string,
    });
  },
);

test('T20: no disk outlives its machine, though the image would keep its own', async () => {
  expect(world.ec2.account.images[0]?.rootDeletedOnTermination).toBe(false);
  const { spec } = await world.resolve();
  const blockDevices = [{ volumeSize: '20Gi' }, { deviceName: '/dev/xvdb', volumeSize: '100Gi' }];
  await world.resolve({ aws: { ...spec.aws!, blockDevices } });
  await world.claims.claim();
  await world.claims.until(() => runs());
  expect(world.ec2.instances.live[0]?.launch.volumes).toHaveLength(2);

  await world.claims.delete();
  await world.claims.gone();

  expect(world.ec2.instances.live).toEqual([]);
  expect(world.ec2.instances.leftVolumes).toEqual([]);
});

test.each<NonNullable<AwsSpec['capacityReservationPreference']>>([
  'open',
  'none',
  'capacity-reservations-only',
])(
  'T24: the preference %s for capacity reservations reaches EC2',
  async (capacityReservationPreference) => {
    const { spec } = await world.resolve();
    await world.resolve({ aws: { ...spec.aws!, capacityReservationPreference } });
    await world.claims.claim();
    await world.claims.pass();

    const [call] = world.ec2.callsOf('RunInstances');
    expect(
      call?.parameters.text('CapacityReservationSpecification.CapacityReservationPreference'),
    ).toBe(capacityReservationPreference);
  },
);

test('T33: a machine that lost nested virtualisation ends with that reason, and its size is not tried there again', async () => {
  world.ec2.instances.next({ losesNested: true });
  await claimFor(sizeIs('m8i.xlarge'));
  await world.claims.gone();

  expect(world.claims.notes).toContainEqual(
    expect.objectContaining({
      reason: 'NestedVirtualizationUnavailable',
      message: expect.stringMatching(/m8i\.xlarge in eu-central-1a.*\(KPU337\)$/) as string,
    }),
  );
  expect(world.ec2.instances.live).toEqual([]);

  await claimFor(sizeIs('m8i.xlarge'), 'web-2');
  await world.claims.until(() => runs('web-2'));
  expect(world.ec2.instances.live.map(({ launch }) => launch.subnet.zone)).toEqual([
    'eu-central-1b',
  ]);
  await world.claims.clock.forward(minutes(30));
  expect(world.cloud.unavailable.list()).toEqual([]);
});

test('T33: bare metal is asked for no nested virtualisation, and is not judged by it', async () => {
  await claimFor(sizeIs('c5.metal'));
  await world.claims.until(() => runs());
  expect(world.ec2.instances.live[0]?.launch).toMatchObject({ nested: false });
});

test('IMDSv2 is required, at one hop, without tags', async () => {
  await world.claims.claim();
  await world.claims.pass();
  expect(world.ec2.instances.live[0]?.launch.metadata).toEqual({
    tokens: 'required',
    hopLimit: 1,
    tags: 'disabled',
  });
});
