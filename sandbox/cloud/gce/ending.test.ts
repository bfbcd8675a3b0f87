/** Finding and ending machines on Compute Engine: what is believed of what it answers. */
import { test as base, describe, expect } from 'vitest';

import { InstancesThere } from '#controller/leftovers/places/instances.ts';
import {
  InsufficientCapacity,
  LaunchUnderWay,
  ListIncomplete,
  OutcomeUnknown,
  TerminationRefused,
} from '#machine/errors.ts';
import type { Instance } from '#machine/machine.ts';
import { seconds } from '#schemas/time/clock.ts';

import { fault, lost } from '../wire/faults.ts';
import { ClaimsOnGce } from './testing/claims-on-gce.ts';
import { failureOf, identityOf, signal, withWorld, type World } from './testing/world.ts';

const test = base.extend<{ world: World }>({
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the pattern to know what a fixture needs
  world: async ({}, use) => withWorld(use),
});

const statesOf = (instances: readonly { readonly state: string }[]): string[] =>
  instances.map(({ state }) => state);
const deletes = (world: World): number => world.gce.callsOf('instances.delete').length;

describe('an end', () => {
  test('T13, T15: is asked for once, and proven by its operation alone', async ({ world }) => {
    world.gce.instances.next({ terminating: seconds(90) });
    const instance = await world.launched();
    await world.clock.forward(seconds(10));
    await world.end(instance);
    await world.end(instance);
    const notFound = { code: 'notFound', status: 404, times: 3 };
    world.gce.faults.next('instances.get', fault(notFound)); // they are false

    expect(statesOf(await world.snapshot())).toEqual(['terminating']);
    expect(statesOf(await world.find())).toEqual(['terminating']);
    await world.end(instance);
    await world.clock.forward(seconds(80));
    expect(statesOf(await world.find())).toEqual(['terminating']);
    await world.clock.forward(seconds(20));
    expect(world.gce.instances.all).toEqual([]);
    expect(statesOf(await world.find())).toEqual(['terminated']);
    expect(deletes(world)).toBe(1);
    expect(world.gce.instances.leftDisks).toEqual([]);
  });

  test('T15: one answer that it is not there ends nothing', async ({ world }) => {
    const instance = await world.launched();
    await world.clock.forward(seconds(10));
    world.restart();
    world.gce.faults.next('instances.delete', fault({ code: 'notFound', status: 404 }));
    await world.end(instance);
    expect(statesOf(await world.find())).toEqual(['running']);
    await world.end(instance);
    await world.clock.forward(seconds(32));
    expect(statesOf(await world.find())).toEqual(['terminated']);
  });

  test('goes on over a restart of ours: an instance that stops is not deleted again', async ({
    world,
  }) => {
    const instance = await world.launched();
    await world.clock.forward(seconds(10));
    await world.end(instance);
    world.restart();

    const [shown] = await world.snapshot();
    expect(shown?.state).toBe('terminating');
    await world.end(instance);
    expect(deletes(world)).toBe(1);
    await world.clock.forward(seconds(30));
    expect(await world.snapshot()).toEqual([]);
    expect(await world.find()).toEqual([]);
  });

  test('whose answer is lost is asked for again', async ({ world }) => {
    const instance = await world.launched();
    world.gce.faults.next('instances.delete', lost());
    expect(await failureOf(world.end(instance))).toBeInstanceOf(OutcomeUnknown);
    await world.clock.forward(seconds(2));
    expect(statesOf(await world.find())).toEqual(['terminating']);
    await world.clock.forward(seconds(30));
    expect(world.gce.instances.all).toEqual([]);
  });

  test('T13: is refused to a protected instance, in words that a person can act on', async ({
    world,
  }) => {
    const instance = await world.launched();
    const message = `Invalid resource usage: 'Resource cannot be deleted if it's protected against deletion.'`;
    const refusal = { code: 'conditionNotMet', status: 412, message };
    world.gce.faults.next('instances.delete', fault(refusal));
    expect(await failureOf(world.end(instance))).toBeInstanceOf(TerminationRefused);
    await world.end(instance);
    expect(deletes(world)).toBe(2);
  });

  test('T12: of a stopped or suspended instance is an end: it is not gone by itself', async ({
    world,
  }) => {
    const instance = await world.launched();
    await world.clock.forward(seconds(10));
    for (const status of ['TERMINATED', 'SUSPENDED'] as const) {
      world.gce.instances.halt(instance.zone, instance.id, status);
      // oxlint-disable-next-line no-await-in-loop -- one state after the other
      expect(await world.snapshot()).toMatchObject([
        { state: 'stopped', stateReason: 'Instance terminated by Compute Engine.' },
      ]);
    }
    await world.end(instance);
    await world.clock.forward(seconds(32));
    expect(statesOf(await world.find())).toEqual(['terminated']);
    expect(world.gce.instances.all).toEqual([]);
  });

  test('T14: needs no more than the name: a claim whose status was never written is found', async ({
    world,
  }) => {
    expect(await failureOf(world.launch())).toBeInstanceOf(LaunchUnderWay);
    world.restart();
    await world.clock.forward(seconds(12));
    const [found] = await world.find();
    expect(found).toMatchObject({ id: 'uk-web', state: 'running' });
    await world.end(found!);
    await world.clock.forward(seconds(32));
    expect(statesOf(await world.find())).toEqual(['terminated']);
  });

  test('T27: of a launch that is under way waits for it, and leaves nothing', async ({ world }) => {
    expect(await failureOf(world.launch())).toBeInstanceOf(LaunchUnderWay);
    expect(await failureOf(world.find())).toBeInstanceOf(LaunchUnderWay);
    await world.clock.forward(seconds(6));
    const [found] = await world.find();
    await world.end(found!);
    await world.clock.forward(seconds(30));
    expect(statesOf(await world.find())).toEqual(['terminated']);
    expect(world.gce.instances.all).toEqual([]);
  });
});

describe('an end that is asked for by name', () => {
  const zones = ['europe-west1-b', 'europe-west1-c'] as const;

  test('leaves alone what has that name by now and is of another cluster or claim', async ({
    world,
  }) => {
    await world.launched({}, identityOf('web', 'cluster-2'));
    await world.clock.forward(seconds(10));
    world.restart();
    const ours = { id: 'uk-web', clusterUid: 'cluster-1', claimUid: 'uid-of-web' };
    for (const wanted of [
      ours,
      { ...ours, zone: zones[0] },
      { ...ours, clusterUid: 'cluster-2', claimUid: 'uid-of-another' },
    ]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await world.cloud.terminate(world.nodeClass, wanted, signal);
    }
    expect(deletes(world)).toBe(0);
    expect(world.gce.instances.all).toMatchObject([{ status: 'RUNNING' }]);
  });

  test('is of one zone, where its name is in two', async ({ world }) => {
    const first = await world.launched({ zone: zones[0] });
    await world.clock.forward(seconds(10));
    const twin = { ...world.gce.instances.all[0]!.launch, zone: zones[1] };
    world.gce.instances.insert(twin);
    await world.clock.forward(seconds(12));
    const both = await world.snapshot();
    expect(both.map(({ id, zone }) => `${id} ${zone}`).toSorted()).toEqual(
      zones.map((zone) => `uk-web ${zone}`),
    );
    await world.end(first);
    expect(
      world.gce.callsOf('instances.delete').map(({ parameters }) => parameters.path['zone']),
    ).toEqual([zones[0]]);
    await Promise.all(both.map(async (one) => world.end(one)));
    expect(deletes(world)).toBe(2);
  });
});

describe('a name that is given again in the same zone', () => {
  const leftover = {
    code: 'ZONE_RESOURCE_POOL_EXHAUSTED',
    message: 'no room',
    leavesInstance: true,
  } as const;

  /** What is seen of it while it runs, how many deletes its end costs, and what is seen then. */
  const lifeOf = async (world: World, instance: Instance) => {
    await world.clock.forward(seconds(10));
    const running = [statesOf(await world.snapshot()), statesOf(await world.find())];
    const before = deletes(world);
    await world.end(instance);
    const calls = deletes(world) - before;
    await world.clock.forward(seconds(40));
    return { running, calls, ended: statesOf(await world.find()), left: world.gce.instances.all };
  };
  const whole = { running: [['running'], ['running']], calls: 1, ended: ['terminated'], left: [] };

  test('is not taken for what had it before: another size after a stockout that left something', async ({
    world,
  }) => {
    world.gce.instances.next({ fails: leftover });
    expect(await failureOf(world.launched())).toBeInstanceOf(InsufficientCapacity);
    await world.clock.forward(seconds(5));
    const second = await world.launched({ instanceType: 'n2-standard-16' });
    expect(await lifeOf(world, second)).toEqual(whole);
  });

  test('is not taken for what had it before: another attempt after somebody stopped the first', async ({
    world,
  }) => {
    const first = await world.launched();
    world.gce.instances.halt(first.zone, first.id, 'TERMINATED');
    await world.clock.forward(seconds(2));
    expect(await lifeOf(world, await world.launched({ attempt: 2 }))).toEqual(whole);
  });

  test('is not proven gone by the end of what had it before', async ({ world }) => {
    const first = await world.launched();
    world.gce.instances.halt(first.zone, first.id, 'TERMINATED');
    await world.clock.forward(seconds(2));
    world.gce.instances.next({ invisible: seconds(60) });
    const launch = failureOf(world.launched({ attempt: 2 }));
    await world.clock.forward(seconds(45));
    await launch;
    expect(await world.find()).toEqual([]);
  });
});

describe('a delete whose operation fails', () => {
  const failure = { code: 'INTERNAL_ERROR', message: 'Internal error. Please try again.' };

  test('is told, and asked for again, whoever looks at the list of all', async ({ world }) => {
    const instance = await world.launched();
    await world.clock.forward(seconds(10));
    world.gce.instances.nextEndFails(failure);
    await world.end(instance);
    expect(statesOf(await world.snapshot())).toEqual(['terminating']);
    await world.clock.forward(seconds(30));
    expect(statesOf(await world.snapshot())).toEqual(['running']);
    await world.end(instance);
    expect(deletes(world)).toBe(2);
    await world.clock.forward(seconds(30));
    expect(await world.snapshot()).toEqual([]);
  });

  test('is asked for every five seconds at most, and taken to go on while it cannot be', async ({
    world,
  }) => {
    const instance = await world.launched();
    await world.clock.forward(seconds(10));
    world.gce.instances.nextEndFails(failure);
    await world.end(instance);
    const unanswered = { code: 'backendError', status: 503, times: 2 };
    world.gce.faults.next('zoneOperations.get', fault(unanswered));
    const before = world.gce.callsOf('zoneOperations.get').length;
    for (let pass = 0; pass < 10; pass += 1) {
      // oxlint-disable-next-line no-await-in-loop -- one look after the other, two seconds apart
      expect(statesOf(await world.snapshot())).toEqual(['terminating']);
    }
    expect(world.gce.callsOf('zoneOperations.get').length - before).toBeLessThanOrEqual(4);
    expect(world.gce.callsOf('zoneOperations.get').length - before).toBeGreaterThanOrEqual(3);
  });

  test('is repeated for a claim that waits for the end, and the claim goes', async () => {
    const world = await ClaimsOnGce.open();
    await world.running(1);
    world.gce.instances.nextEndFails(failure);
    await world.claims.delete();
    await world.claims.until(() => world.gce.instances.all.length === 0);
    expect(deletes(world)).toBe(2);
    await world.stop();
  });

  test('is repeated for what is collected, which is busy until then', async ({ world }) => {
    const { cloud, nodeClass } = world;
    const region = { name: 'gcp europe-west1', cloud, nodeClass, clusterUid: 'cluster-1' };
    const there = new InstancesThere(region);
    await world.launched();
    await world.clock.forward(seconds(10));
    world.gce.instances.nextEndFails(failure);
    const [found] = await there.list(signal);
    await there.remove(found!, signal);
    await world.clock.forward(seconds(6));
    expect(await there.list(signal)).toMatchObject([{ isBusy: true }]);
    await world.clock.forward(seconds(30));
    const [again] = await there.list(signal);
    expect(again).not.toHaveProperty('isBusy');
    await there.remove(again!, signal);
    await world.clock.forward(seconds(40));
    expect(await there.list(signal)).toEqual([]);
    expect(deletes(world)).toBe(2);
  });
});

describe('what is seen', () => {
  test('T6: an instance that no answer knows yet is neither gone nor made again', async ({
    world,
  }) => {
    world.gce.instances.next({ invisible: seconds(4) });
    const instance = await world.launched();
    expect(instance.id).toBe('uk-web');
    expect(world.gce.callsOf('instances.insert')).toHaveLength(1);
    expect(world.gce.instances.made).toBe(1);
  });

  test('is one list for all who ask within two seconds', async ({ world }) => {
    await world.launched();
    await world.clock.forward(seconds(2));
    const before = world.gce.callsOf('instances.aggregatedList').length;
    const ask = async () => world.find();
    await Promise.all([ask(), ask(), ask()]);
    expect(world.gce.callsOf('instances.aggregatedList')).toHaveLength(before + 1);
  });

  test('T17: is of this cluster alone', async ({ world }) => {
    await world.launched({}, identityOf('web'));
    await world.launched({}, identityOf('api', 'cluster-2'));
    expect(world.gce.instances.all).toHaveLength(2);
    expect((await world.snapshot()).map(({ id }) => id)).toEqual(['uk-web']);
    expect(await world.find({ ...identityOf('api'), clusterUid: 'cluster-1' })).toEqual([]);
  });

  test('T16: of a zone that cannot be reached is what was seen of it last, once it was', async ({
    world,
  }) => {
    await world.launched();
    await world.launched({ zone: 'europe-west1-c' }, identityOf('api'));
    await world.clock.forward(seconds(10));
    expect(await world.snapshot()).toHaveLength(2);

    world.gce.instances.unreachable.add('europe-west1-b');
    const shown = await world.snapshot();
    expect(new Map(shown.map(({ id, state }) => [id, state]))).toEqual(
      new Map([
        ['uk-api', 'running'],
        ['uk-web', 'running'],
      ]),
    );

    world.restart(); // and nothing was seen of it
    expect(await failureOf(world.snapshot())).toBeInstanceOf(ListIncomplete);
    expect(await world.find(identityOf('api'))).toMatchObject([{ id: 'uk-api' }]);
    expect(await failureOf(world.find())).toBeInstanceOf(OutcomeUnknown);

    world.gce.instances.unreachable.clear();
    expect(await world.snapshot()).toHaveLength(2);
  });

  test('an unreachable zone holds up no launch elsewhere', async ({ world }) => {
    world.gce.instances.unreachable.add('europe-west1-b');
    expect(await world.launched({ zone: 'europe-west1-d' })).toMatchObject({ id: 'uk-web' });
    expect(await failureOf(world.launch({}, identityOf('api')))).toBeInstanceOf(OutcomeUnknown);
  });

  test('holds for many instances on many pages', async ({ world }) => {
    const names = Array.from({ length: 501 }, (_, index) => `m-${index}`);
    await Promise.allSettled(names.map(async (name) => world.launch({}, identityOf(name))));
    await world.clock.forward(seconds(20));
    const shown = await world.snapshot();
    expect(new Set(shown.map(({ id }) => id))).toEqual(new Set(names.map((name) => `uk-${name}`)));
    const pages = world.gce
      .callsOf('instances.aggregatedList')
      .map(({ parameters }) => parameters.query.get('pageToken'));
    expect(pages.at(-1)).toBe('500');
  });
});

test('T7: three hundred machines at once cost four calls each, lists included', async ({
  world,
}) => {
  const names = Array.from({ length: 300 }, (_, index) => `m-${index}`);
  const start = async (name: string): Promise<unknown> =>
    world.launch({}, identityOf(name)).catch((error: unknown) => error);
  world.gce.calls.length = 0;
  await Promise.all(names.map(start));
  await world.clock.forward(seconds(6));
  const found = await Promise.all(names.map(async (name) => world.find(identityOf(name))));
  expect(found.flat().every(({ state }) => state === 'pending')).toBe(true);
  await world.clock.forward(seconds(10));
  expect(statesOf(await world.snapshot())).toEqual(names.map(() => 'running'));
  expect(world.gce.calls.length / names.length).toBeLessThanOrEqual(4);
});
