/** Looking after machines on Compute Engine: labels that were taken off, hosts that go, instances that stopped. */
import { afterEach, beforeEach, expect, test } from 'vitest';

import { Collector } from '#controller/nodeclaim/garbagecollection/collector.ts';
import { Interruption } from '#controller/nodeclaim/garbagecollection/interruption.ts';
import { Revisions } from '#controller/nodeclass/revisions.ts';
import { Metrics } from '#kube/metrics.ts';
import { nodeClaims } from '#schemas/karpenter/types.ts';
import { seconds } from '#schemas/time/clock.ts';

import { fault } from '../wire/faults.ts';
import type { Instance } from './instance.ts';
import { ClaimsOnGce } from './testing/claims-on-gce.ts';
import { signal } from './testing/world.ts';

const cluster = 'karpenter-unikraft-com-cluster';
const claimUid = 'karpenter-unikraft-com-nodeclaim-uid';
let world: ClaimsOnGce;
let collect: () => Promise<void>;
let lookAfter: () => Promise<void>;
beforeEach(async () => {
  world = await ClaimsOnGce.open();
  const { context } = world.claims;
  const clouds = { for: async () => world.cloud, dns: async () => world.claims.dns };
  const revisions = new Revisions(context);
  const collector = new Collector(context, clouds, revisions);
  const interruption = new Interruption(context, clouds, revisions, new Metrics());
  collect = async () => {
    await world.clock.forward(seconds(2)); // past the list that was taken last
    await collector.collect(signal);
  };
  lookAfter = async () => {
    await world.clock.forward(seconds(2));
    await interruption.look(signal);
  };
});
afterEach(async () => world.stop());

const instances = (): Instance[] => [...world.gce.instances.all];
const isLeaving = (name = 'web-1'): boolean =>
  world.claims.find(name)?.metadata.deletionTimestamp !== undefined;
const leaving = (): number =>
  world.claims.client.all(nodeClaims).filter(({ metadata }) => isLeaving(metadata.name)).length;

test('T19: labels that somebody took off are put back, those of others stay, and so does the machine', async () => {
  await world.running(2);
  const [bare, other] = instances();
  const before = { ...bare!.labels };
  bare!.labels = { team: 'shop' };

  await collect();

  expect(bare!.labels).toEqual({ ...before, team: 'shop' });
  expect(before).toMatchObject({ [claimUid]: expect.any(String) as string });
  expect(leaving()).toBe(0);
  expect(world.claims.notes.at(-1)).toMatchObject({
    reason: 'TagsRestored',
    message: expect.stringMatching(/had lost .*nodeclaim-uid.*\(KPU339\)/) as string,
  });
  await collect();
  const calls = world.gce.callsOf('instances.setLabels');
  expect(calls.map(({ parameters }) => parameters.path['instance'])).toEqual([bare!.launch.name]);
  expect(other!.labels).toMatchObject({ [cluster]: before[cluster] });
});

test('T19: labels are put back also where somebody else writes at the same time', async () => {
  await world.running(1);
  const [instance] = instances();
  instance!.labels = { [claimUid]: 'another' };
  const overtaken = fault<unknown>({ code: 'conditionNotMet', status: 412 });
  world.gce.faults.next('instances.setLabels', overtaken);
  await collect();
  expect(instance!.labels[claimUid]).toBe(world.claims.find()?.metadata.uid);
});

test('T19: a machine whose labels cannot be put back is kept all the same', async () => {
  await world.running(1);
  const [instance] = instances();
  instance!.labels = {};
  const refused = fault<unknown>({ code: 'forbidden', status: 403 });
  world.gce.faults.next('instances.setLabels', refused);
  await collect();
  expect([isLeaving(), instance!.labels]).toEqual([false, {}]);
  await collect();
  expect(instance!.labels).toHaveProperty(cluster);
});

test('an instance of the same name that another program made is not labelled as ours', async () => {
  await world.running(1);
  const [instance] = instances();
  Object.assign(instance!, { launch: { ...instance!.launch, metadata: [] }, labels: {} });
  await collect();
  expect(instance!.labels).toEqual({});
  expect(world.gce.callsOf('instances.setLabels')).toEqual([]);
});

test('an instance that neither list nor zone knows is gone', async () => {
  await world.running(1);
  const [{ launch }] = instances() as [Instance];
  world.gce.instances.vanish(launch.zone, launch.name);
  await collect();
  expect(isLeaving()).toBe(true);
  expect(world.claims.notes.at(-1)?.message).toContain('The cloud no longer knows instance');
});

test.each(['TERMINATED', 'SUSPENDED', 'REPAIRING'] as const)(
  'T12: an instance that is %s is not gone: its claim ends, and the instance is deleted',
  async (status) => {
    await world.running(1);
    const [{ launch }] = instances() as [Instance];
    world.gce.instances.halt(launch.zone, launch.name, status);
    await collect();
    expect(isLeaving()).toBe(true);
    await world.claims.gone();
    expect(world.gce.instances.all).toEqual([]);
    expect(world.gce.instances.leftDisks).toEqual([]);
  },
);

const announced = {
  type: 'UNSCHEDULED',
  maintenanceStatus: 'PENDING',
  maintenanceReasons: ['FAILURE_MEMORY'],
  windowStartTime: '2026-12-24T00:00:00.000Z',
} as const;

test('bare metal whose host is to be maintained is replaced at once, and the claim says why', async () => {
  await world.running(2, 'c3-highcpu-192-metal');
  const [instance] = instances();
  instance!.maintenance = announced;
  await lookAfter();

  expect(leaving()).toBe(1);
  const name = ['web-1', 'web-2'].find((one) => isLeaving(one));
  expect(world.claims.condition('Interrupted', name)).toMatchObject({
    status: 'True',
    message: `Instance ${instance!.launch.name}: Google Cloud has announced UNSCHEDULED maintenance of its host, not before 2026-12-24T00:00:00.000Z (FAILURE_MEMORY); the claim ends and its Pods find another machine (KPU338)`,
  });
});

test('a machine that is moved to another host while it runs stays', async () => {
  await world.running(1);
  instances()[0]!.maintenance = announced;
  await lookAfter();
  expect(leaving()).toBe(0);
});

test('nobody is judged while the project cannot be listed', async () => {
  await world.running(1, 'c3-highcpu-192-metal');
  instances()[0]!.maintenance = announced;
  const away = fault<unknown>({ code: 'backendError', status: 503, times: 2 });
  world.gce.faults.next('instances.aggregatedList', away);
  await lookAfter();
  await collect();
  expect(leaving()).toBe(0);
});
