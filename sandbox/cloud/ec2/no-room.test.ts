import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { labels } from '#schemas/names.ts';
import { minutes } from '#schemas/time/clock.ts';

import { fault } from '../wire/faults.ts';
import { outOfCapacity } from './capacity.ts';
import type { Parameters } from './parameters.ts';
import { ClaimsOnEc2 } from './testing/claims-on-ec2.ts';

let world: ClaimsOnEc2;
beforeEach(async () => {
  world = await ClaimsOnEc2.start(vi.stubEnv);
});
afterEach(() => world.stop());

const [a, b, c] = ['eu-central-1a', 'eu-central-1b', 'eu-central-1c'];
/** A claim for these sizes, cheapest first. */
const claimFor = async (types: readonly string[], name = 'web-1', zones = [a, b, c]) =>
  world.claims.claim(
    {
      spec: {
        nodeClassRef: {
          group: 'karpenter.unikraft.com',
          kind: 'UnikraftNodeClass',
          name: 'default',
        },
        requirements: [
          { key: labels.instanceType, operator: 'In', values: [...types] },
          { key: labels.zone, operator: 'In', values: zones },
        ],
      },
    },
    name,
  );
/** What RunInstances was asked for: `m8i.xlarge subnet-…1`. */
const tries = (): string[] =>
  world.ec2
    .callsOf('RunInstances')
    .map(({ parameters }) => `${parameters.text('InstanceType')} ${parameters.text('SubnetId')}`);
const subnetOf = (zone: string): string =>
  world.ec2.account.subnets.find((subnet) => subnet.zone === zone)?.id ?? '';
const unavailable = (): string[] => world.cloud.unavailable.list().map(({ what }) => what);
const zoneOf = (name = 'web-1') => world.claims.find(name)?.metadata.labels?.[labels.zone];

test('T8: one zone without capacity costs one call: the next zone is taken in the same reconcile', async () => {
  world.ec2.faults.next('RunInstances', outOfCapacity(world.ec2.account, { zone: a }));
  await claimFor(['m8i.xlarge']);

  await world.claims.pass();

  expect(world.claims.condition('Launched')?.status).toBe('True');
  expect(zoneOf()).toBe(b);
  expect(tries()).toEqual([`m8i.xlarge ${subnetOf(a)}`, `m8i.xlarge ${subnetOf(b)}`]);
});

test('T8: a zone without capacity is asked again when three minutes have passed, and not before', async () => {
  world.ec2.faults.next('RunInstances', outOfCapacity(world.ec2.account, { zone: a }));
  await claimFor(['m8i.xlarge']);
  await world.claims.pass();
  await world.claims.clock.forward(minutes(3) - 1);
  await claimFor(['m8i.xlarge'], 'web-2');
  await world.claims.pass('web-2');
  expect(zoneOf('web-2')).toBe(b);

  await world.claims.clock.forward(1);
  await claimFor(['m8i.xlarge'], 'web-3');
  await world.claims.pass('web-3');

  expect(tries().at(-2)).toBe(`m8i.xlarge ${subnetOf(a)}`);
  expect(tries()).toHaveLength(5);
});

test('T9: where no zone has capacity the claim ends with that reason, so that other pools are tried', async () => {
  world.ec2.faults.next('RunInstances', outOfCapacity(world.ec2.account, {}));
  await claimFor(['m8i.xlarge']);

  await world.claims.pass();
  await world.claims.gone();

  expect(tries()).toHaveLength(3);
  expect(world.claims.notes).toContainEqual(
    expect.objectContaining({
      reason: 'InsufficientCapacityError',
      message: expect.stringMatching(/the last answer was ".*InsufficientInstanceCapacity.*KPU310/),
    }),
  );
  expect(world.ec2.instances.all).toEqual([]);
});

test('T9: a claim that may have many sizes tries eight of them in one pass and goes on in the next', async () => {
  world.ec2.faults.next('RunInstances', outOfCapacity(world.ec2.account, {}));
  await claimFor(['m8i.xlarge', 'm7i.xlarge', 'c8i.2xlarge', 'r8i.xlarge']);

  await world.claims.pass();
  expect(tries()).toHaveLength(8);
  await world.claims.pass();
  expect(tries()).toHaveLength(12);
  expect(new Set(tries()).size).toBe(12);
});

test('T10: a full subnet is passed over for another of its zone at once, and the size is not blamed', async () => {
  const [first] = world.ec2.account.subnets;
  world.ec2.account.subnets.push({ ...first!, id: 'subnet-0a00000000000000f', freeAddresses: 5 });
  await world.resolve();
  first!.freeAddresses = 0;
  await claimFor(['m8i.xlarge'], 'web-1', [a]);

  await world.claims.pass();

  expect(world.claims.condition('Launched')?.status).toBe('True');
  expect(tries()).toEqual([`m8i.xlarge ${first!.id}`, 'm8i.xlarge subnet-0a00000000000000f']);
  expect(unavailable()).toEqual([first!.id]);
});

test('T10: what was launched since the last look counts, so that no subnet is filled while another is empty', async () => {
  const [first] = world.ec2.account.subnets;
  const second = { ...first!, id: 'subnet-0a00000000000000f', freeAddresses: 4 };
  world.ec2.account.subnets.push(second);
  first!.freeAddresses = 4;
  await world.resolve();

  for (const name of ['web-1', 'web-2', 'web-3', 'web-4']) {
    // oxlint-disable-next-line no-await-in-loop -- each launch changes what is left for the next
    await claimFor(['m8i.xlarge'], name, [a]);
    // oxlint-disable-next-line no-await-in-loop
    await world.claims.pass(name);
  }

  expect([first!.freeAddresses, second.freeAddresses]).toEqual([2, 2]);
});

test('T11: a quota of the account stops all sizes that share it, other families are tried, and the reason says quota', async () => {
  const standard = fault<Parameters>({
    code: 'VcpuLimitExceeded',
    times: Infinity,
    when: (call) => call.text('InstanceType') !== 'x8i.xlarge',
  });
  world.ec2.faults.next('RunInstances', standard);
  await claimFor(['m8i.xlarge', 'm7i.xlarge', 'c8i.2xlarge']);
  await world.claims.pass();
  await world.claims.gone();

  expect(tries()).toHaveLength(1);
  expect(unavailable()).toEqual(['standard vCPU quota of eu-central-1']);
  expect(world.claims.notes.map(({ message }) => message)).toContainEqual(
    expect.stringMatching(/VcpuLimitExceeded.*\(KPU316\)/),
  );

  await claimFor(['m8i.xlarge', 'x8i.xlarge'], 'web-2');
  await world.claims.pass('web-2');
  expect(tries().at(-1)).toMatch(/^x8i\.xlarge /);
  expect(world.claims.condition('Launched', 'web-2')?.status).toBe('True');
});

test('T5: each try has a token of its own, so that EC2 never meets one with two meanings', async () => {
  const back = world.ec2.faults.next('RunInstances', outOfCapacity(world.ec2.account, {}));
  await claimFor(['m8i.xlarge', 'm7i.xlarge']);
  await world.claims.pass();
  back();
  await claimFor(['m8i.xlarge', 'm7i.xlarge', 'c8i.2xlarge'], 'web-2');
  await world.claims.until(() => world.claims.condition('Launched', 'web-2')?.status === 'True');

  const calls = world.ec2.callsOf('RunInstances');
  const tokens = calls.map(({ parameters }) => parameters.text('ClientToken'));
  expect(new Set(tokens).size).toBe(calls.length);
  expect(calls.map(({ outcome }) => outcome)).not.toContain('IdempotentParameterMismatch');
});

test('T22: an entry ends in its time though errors go on elsewhere', async () => {
  world.ec2.faults.next('RunInstances', outOfCapacity(world.ec2.account, { zone: a }));
  await claimFor(['m8i.xlarge'], 'web-0', [a]);
  await world.claims.pass('web-0');
  world.ec2.faults.next('RunInstances', outOfCapacity(world.ec2.account, { zone: b }));

  for (const minute of [1, 2, 3]) {
    // oxlint-disable-next-line no-await-in-loop -- time passes
    await world.claims.clock.forward(minutes(1));
    // oxlint-disable-next-line no-await-in-loop
    await claimFor(['m7i.xlarge'], `other-${minute}`, [b]);
    // oxlint-disable-next-line no-await-in-loop
    await world.claims.pass(`other-${minute}`);
  }

  expect(unavailable()).not.toContain(`m8i.xlarge in ${a}`);
  const before = tries().length;
  await claimFor(['m8i.xlarge'], 'web-9', [a]);
  await world.claims.pass('web-9');
  expect(tries().slice(before)).toEqual([`m8i.xlarge ${subnetOf(a)}`]);
});
