/** Clouds that have no room, or are not there: what goes on elsewhere goes on. */
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';

import { outOfCapacity } from '#sandbox/cloud/ec2/capacity.ts';
import { labels } from '#schemas/names.ts';
import { unikraftNodeClasses, type UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';
import { nodeClass, nodePool, optedInPod, size } from '#test/world/objects.ts';
import { TestWorld } from '#test/world/test-world.ts';

const away = 'eu-west-1';
const terms = [{ tags: { 'karpenter.sh/discovery': 'sandbox' } }];
const inRegion = (region: string): Partial<UnikraftNodeClassSpec> => ({
  aws: { region, subnetSelectorTerms: terms, securityGroupSelectorTerms: terms },
});

let world: TestWorld;
beforeAll(async () => {
  world = await TestWorld.start(inject('tools'), { policies: false });
  await world.expectUsable(nodeClass(), nodeClass(inRegion(away), 'there'));
  await world.expectApplied(
    nodePool({ name: 'here' }),
    nodePool({ name: 'there', nodeClass: 'there' }),
  );
});
afterEach(() => world.cloud.ec2.away.clear());
afterAll(async () => world?.stop());

const on = (pool: string) => ({ nodeSelector: { [labels.nodePool]: pool } });
/** Of the pool's, with the machine of each. */
const claimsOf = async (pool: string) => {
  const all = await world.claims();
  return all.filter(({ metadata }) => metadata.labels?.[labels.nodePool] === pool);
};

test('a region that nobody can reach is told on its class, its machines stay, and the other region launches on', async () => {
  await world.expectApplied(
    optedInPod('here-1', { cpu: '1500m' }, on('here')),
    optedInPod('there-1', { cpu: '1500m' }, on('there')),
  );
  await Promise.all(['here-1', 'there-1'].map(async (name) => world.expectScheduled(name)));
  const [kept] = await claimsOf('there');
  const { ec2 } = world.cloud;
  ec2.away.add(away);

  await world.expectApplied(
    optedInPod('here-2', { cpu: '1500m' }, on('here')),
    optedInPod('there-2', { cpu: '1500m' }, on('there')),
  );
  await world.expectScheduled('here-2');
  await world.clock.forward(minutes(5)); // when classes are looked up again
  const { message } = await world.expectConditionOf(
    unikraftNodeClasses,
    'there',
    'CloudReachable',
    { status: 'False', reason: 'CloudUnreachable' },
  );
  expect(message).toMatch(/^EC2 in eu-west-1 does not answer .*\(KPU215\)$/);
  await world.expectConditionOf(unikraftNodeClasses, 'there', 'Ready', { status: 'True' });
  const there = await world.client.get(unikraftNodeClasses, { name: 'there' });
  await world.expectEvent(there, 'CloudUnreachable');

  const before = ec2.calls.length;
  for (let minute = 0; minute < 10; minute += 1) {
    // oxlint-disable-next-line no-await-in-loop -- minute by minute
    await world.clock.forward(minutes(1));
    // oxlint-disable-next-line no-await-in-loop -- what is due is done in real time
    await new Promise((resolve) => setTimeout(resolve, seconds(0.3)));
  }
  const inVain = ec2.calls.slice(before).filter(({ outcome }) => outcome === 'unheard');
  expect(inVain.length).toBeLessThan(30);
  await world.expectConditionOf(unikraftNodeClasses, 'default', 'CloudReachable', {
    status: 'True',
  });
  const stays = (await claimsOf('there')).find(
    ({ metadata }) => metadata.uid === kept?.metadata.uid,
  );
  expect(stays?.metadata.deletionTimestamp).toBeUndefined();

  ec2.away.clear();
  let halfMinutes = 0;
  await world.eventually('a claim for there-2', async () => {
    halfMinutes += 1;
    await world.clock.forward(seconds(30));
    await new Promise((resolve) => setTimeout(resolve, seconds(1)));
    const live = (await claimsOf('there')).filter(({ metadata }) => !metadata.deletionTimestamp);
    return live.some(({ metadata }) => metadata.uid !== kept?.metadata.uid);
  });
  expect(halfMinutes).toBeLessThan(10); // the claim that ends asks once a minute, and the Pod comes after it
  await world.expectScheduled('there-2');
  await world.clock.forward(minutes(1)); // until the class is looked up again
  await world.expectConditionOf(unikraftNodeClasses, 'there', 'CloudReachable', { status: 'True' });
});

test('T9: where no zone has room for the sizes of a pool, its claim ends and the next pool is tried', async () => {
  const { ec2 } = world.cloud;
  const back = ec2.faults.next('RunInstances', outOfCapacity(ec2.account, { type: 'm8i.xlarge' }));
  const either = {
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [
            {
              matchExpressions: [
                { key: labels.nodePool, operator: 'In', values: ['first', 'second'] },
                { key: labels.instanceType, operator: 'In', values: ['m8i.xlarge', 'm7i.xlarge'] },
              ],
            },
          ],
        },
      },
    },
  };
  const first = nodePool({ name: 'first', requirements: [size('m8i.xlarge')] });
  await world.expectApplied(
    { ...first, spec: { ...first.spec, weight: 50 } } as typeof first,
    nodePool({ name: 'second', requirements: [size('m7i.xlarge')] }),
  );
  await world.expectApplied(optedInPod('anywhere', { cpu: '1500m' }, either as never));

  await world.expectScheduled('anywhere');

  const said = (await world.eventsOfOperator()).map(({ reason }) => reason);
  expect(said).toContain('InsufficientCapacityError');
  expect(await claimsOf('first')).toEqual([]);
  expect(await claimsOf('second')).toHaveLength(1);
  back();
});
