/** What is believed of Compute Engine's refusals: who waits, who goes elsewhere, and for how long. */
import { test as base, describe, expect } from 'vitest';

import {
  CreateError,
  InsufficientCapacity,
  NodeClassError,
  Throttled,
  Unauthorized,
} from '#machine/errors.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';

import { fault } from '../wire/faults.ts';
import { failureOf, identityOf, signal, withWorld, type World } from './testing/world.ts';

const test = base.extend<{ world: World }>({
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the pattern to know what a fixture needs
  world: async ({}, use) => withWorld(use),
});

const zones = ['europe-west1-b', 'europe-west1-c', 'europe-west1-d'] as const;

/** Zones in which a size is offered now. */
async function available(world: World, type: string): Promise<string[]> {
  const sizes = await world.cloud.sizes(world.nodeClass, signal);
  const { offerings = [] } = sizes.find((size) => size.type.name === type) ?? {};
  return offerings.filter((offering) => offering.available).map(({ zone }) => zone);
}

describe('where there is no room', () => {
  test('T8: a stockout is told by the operation, is marked, and the next zone is taken', async ({
    world,
  }) => {
    const back = world.gce.instances.refuse({ zone: zones[0] });
    const error = await failureOf(world.launched());
    expect(error).toBeInstanceOf(InsufficientCapacity);
    expect(error).toMatchObject({ code: 'KPU310' });
    expect(error.message).toContain('ZONE_RESOURCE_POOL_EXHAUSTED: The zone');
    expect(await available(world, 'n2-standard-8')).toEqual([zones[1], zones[2]]);
    expect(await available(world, 'n2-standard-16')).toEqual(zones);

    expect(await world.launched({ zone: zones[1] })).toMatchObject({ zone: zones[1] });
    expect(world.gce.instances.all).toHaveLength(1);
    back();
    await world.clock.forward(minutes(3));
    expect(await available(world, 'n2-standard-8')).toEqual(zones);
  });

  test('T22: a stockout that lasts is believed for twice as long each time, half an hour at most', async ({
    world,
  }) => {
    world.gce.instances.refuse({ zone: zones[0] });
    for (const [index, believed] of [3, 6, 12, 24, 30, 30].entries()) {
      // oxlint-disable no-await-in-loop -- one time after the other
      await failureOf(world.launched({ attempt: index + 1 }));
      await world.clock.forward(minutes(believed) - seconds(1));
      expect(await available(world, 'n2-standard-8')).toEqual(zones.slice(1));
      await failureOf(world.launched({ zone: zones[0], instanceType: 'c3-standard-8' })); // elsewhere
      await world.clock.forward(seconds(1));
      expect(await available(world, 'n2-standard-8')).toContain(zones[0]);
      // oxlint-enable no-await-in-loop
    }
  });

  test('T22: launches that one stockout refuses together are believed once, not doubled by each', async ({
    world,
  }) => {
    world.gce.instances.refuse({ zone: zones[0] });
    const names = Array.from({ length: 8 }, (_, index) => `web-${index}`);
    const underWay = names.map(async (name) => failureOf(world.launch({}, identityOf(name))));
    await Promise.all(underWay); // all inserts are taken before the first is refused
    await world.clock.forward(seconds(6));
    for (const name of names) {
      // oxlint-disable-next-line no-await-in-loop -- one refusal after the other
      expect(await failureOf(world.launch({}, identityOf(name)))).toBeInstanceOf(
        InsufficientCapacity,
      );
    }
    expect(world.gce.instances.made).toBe(8);
    expect(await available(world, 'n2-standard-8')).toEqual(zones.slice(1));
    await world.clock.forward(minutes(3));
    expect(await available(world, 'n2-standard-8')).toEqual(zones);
  });

  test.for([
    ['IP_SPACE_EXHAUSTED', "IP space of 'x' is exhausted.", undefined],
    ['QUOTA_EXCEEDED', "Quota 'N2_CPUS' exceeded.", 'N2_CPUS'],
  ] as const)(
    '%s that is met again is believed for three minutes again: it ends with the next machine',
    async ([code, message, metric], { world }) => {
      for (let time = 0; time < 3; time += 1) {
        // oxlint-disable no-await-in-loop -- one time after the other
        world.gce.instances.next({ fails: { code, message, ...(metric && { metric }) } });
        const attempt = { attempt: time + 1 };
        expect(await failureOf(world.launched(attempt))).toBeInstanceOf(InsufficientCapacity);
        expect(await available(world, 'n2-standard-8')).toEqual([]);
        await world.clock.forward(minutes(3));
        expect(await available(world, 'n2-standard-8')).toEqual(zones);
        // oxlint-enable no-await-in-loop
      }
    },
  );

  test('a size that a zone refuses for good is known beside a stockout of it, and outlives that', async ({
    world,
  }) => {
    const refused = { code: 'UNSUPPORTED_OPERATION', message: 'not here' };
    world.gce.instances.refuse({ zone: zones[0] });
    await failureOf(world.launched());
    world.gce.instances.next({ fails: refused });
    await failureOf(world.launched({ attempt: 2 }));
    await world.clock.forward(minutes(29));
    expect(await available(world, 'n2-standard-8')).toEqual(zones.slice(1));
    await world.clock.forward(minutes(1));
    expect(await available(world, 'n2-standard-8')).toEqual(zones);
  });

  test('T10: a subnetwork without addresses is marked, not the size', async ({ world }) => {
    world.gce.project.subnetworks[0]!.freeAddresses = 0;
    const error = await failureOf(world.launched());
    expect(error).toBeInstanceOf(InsufficientCapacity);
    expect(error.message).toContain('IP_SPACE_EXHAUSTED');
    expect(await world.cloud.subnets(world.nodeClass)).toEqual([]);
    await world.clock.forward(minutes(3));
    expect(await world.cloud.subnets(world.nodeClass)).toHaveLength(3);
  });

  test.for([
    ['N2_CPUS', 'N2_CPUS', ['c3-standard-8']],
    ['N2_CPUS', 'compute.googleapis.com/n2_cpus', ['c3-standard-8']],
    ['', 'compute.googleapis.com/n2_cpus', ['c3-standard-8']],
    ['CPUS', 'CPUS', ['c3-standard-8']],
    ['CPUS', 'compute.googleapis.com/cpus', ['c3-standard-8']],
    ['', 'compute.googleapis.com/cpus', ['c3-standard-8']],
    ['IN_USE_ADDRESSES', 'IN_USE_ADDRESSES', []],
    ['IN_USE_ADDRESSES', 'compute.googleapis.com/in_use_addresses', []],
  ] as const)(
    'T11: the quota %s, %s, is of whom it is of',
    async ([said, metric, others], { world }) => {
      const message = `Quota '${said}' exceeded.  Limit: 24.0 in region europe-west1.`;
      world.gce.instances.next({ fails: { code: 'QUOTA_EXCEEDED', message, metric } });
      const error = await failureOf(world.launched());
      expect(error).toMatchObject({ code: 'KPU316' });
      expect(error.message).toContain(message);
      const asked = ['n2-standard-8', 'n2-highmem-8', 'c3-standard-8'];
      const left = await Promise.all(asked.map(async (type) => available(world, type)));
      expect(left).toEqual(asked.map((type) => (others.some((one) => one === type) ? zones : [])));
    },
  );

  test('a refusal by the call itself is the same', async ({ world }) => {
    const message = "Quota 'N2_CPUS' exceeded.  Limit: 24.0 in region europe-west1.";
    world.gce.faults.next(
      'instances.insert',
      fault({ code: 'quotaExceeded', status: 403, message }),
    );
    expect(await failureOf(world.launch())).toMatchObject({ code: 'KPU316' });
    expect(await available(world, 'n2-standard-16')).toEqual([]);
  });

  test('too many calls say nothing of room', async ({ world }) => {
    for (const [code, status] of [
      ['rateLimitExceeded', 403],
      ['rateLimitExceeded', 429],
    ] as const) {
      world.gce.faults.next('instances.insert', fault({ code, status }));
      // oxlint-disable-next-line no-await-in-loop -- one call after the other
      expect(await failureOf(world.launch())).toBeInstanceOf(Throttled);
      // oxlint-disable-next-line no-await-in-loop -- until its turn has come
      await world.clock.forward(seconds(1));
    }
    expect(await available(world, 'n2-standard-8')).toEqual(zones);
  });

  test('T4: what an earlier try left in another zone goes before anything is made', async ({
    world,
  }) => {
    const message = 'Instance creation failed: backend error.';
    const leftover = {
      code: 'ZONE_RESOURCE_POOL_EXHAUSTED',
      message,
      leavesInstance: true,
    } as const;
    world.gce.instances.next({ fails: leftover });
    expect(await failureOf(world.launched())).toBeInstanceOf(InsufficientCapacity);
    await world.clock.forward(seconds(5));
    expect(world.gce.instances.all).toMatchObject([{ launch: { zone: zones[0] } }]);

    const made = await world.launched({ zone: zones[1] });
    expect(made.zone).toBe(zones[1]);
    expect(world.gce.instances.all).toMatchObject([{ launch: { zone: zones[1] } }]);
    expect(world.gce.callsOf('instances.delete')).toHaveLength(1);
  });
});

describe('what only a person can put right', () => {
  test.for([
    ['forbidden', 403, "Required 'compute.instances.create' permission", Unauthorized],
    [
      'forbidden',
      403,
      'Constraint constraints/compute.vmExternalIpAccess violated for project 1.',
      NodeClassError,
    ],
    ['accessNotConfigured', 403, 'Compute Engine API has not been used', Unauthorized],
    ['authError', 401, 'Invalid Credentials', Unauthorized],
    ['invalid', 400, "Invalid value for field 'resource.name'", CreateError],
    [
      'conditionNotMet',
      412,
      'Constraint constraints/compute.disableNestedVirtualization violated',
      NodeClassError,
    ],
    ['notFound', 404, "The resource 'projects/p/global/images/x' was not found", NodeClassError],
  ] as const)(
    '%s is told in the cloud’s words',
    async ([code, status, message, kind], { world }) => {
      world.gce.faults.next('instances.insert', fault({ code, status, message }));
      const error = await failureOf(world.launch());
      expect(error).toBeInstanceOf(kind);
      expect(error.message).toContain(`${code}: ${message}`);
      expect(await available(world, 'n2-standard-8')).toEqual(zones);
    },
  );

  test('a flag that a size does not take puts that size aside in its zone', async ({ world }) => {
    world.nodeClass = await world.resolve({ nestedVirtualizationFamilies: ['n2', 'n2d'] });
    expect(await available(world, 'n2d-standard-8')).toEqual(zones);
    const error = await failureOf(world.launched({ instanceType: 'n2d-standard-8' }));
    expect(error).toBeInstanceOf(InsufficientCapacity);
    await world.clock.forward(minutes(29));
    expect(await available(world, 'n2d-standard-8')).toEqual(zones.slice(1));
  });
});
