import { beforeEach, describe, expect, test, vi } from 'vitest';

import { NodeClassError } from '#machine/errors.ts';
import { nodeClaims } from '#schemas/karpenter/types.ts';
import { controllerRevisions, pods, statefulSets } from '#schemas/kubernetes/resource.ts';
import { labels } from '#schemas/names.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';

import { ClaimWorld, noLeaks, revisionName } from '../../testing/claim-world.ts';
import { refusal } from '../../testing/refusals.ts';
import { releaseResources } from './release.ts';

let world: ClaimWorld;
beforeEach(async () => {
  world = await ClaimWorld.make();
  await world.claim();
});

const set = () => world.client.all(statefulSets)[0];
const told = (reason: string): string[] =>
  world.notes.filter((note) => note.reason === reason).map(({ message }) => message);
const writtenSince = (length: number): string[] => [
  ...new Set(world.client.writes.slice(length).map(({ verb, plural }) => `${verb} ${plural}`)),
];

function removeRelease(plurals: readonly string[]): void {
  for (const resource of releaseResources.filter(({ plural }) => plurals.includes(plural))) {
    for (const { metadata } of world.client.all(resource)) {
      if (metadata.labels?.[labels.claimUid] === undefined) continue;
      if (metadata.name === world.nodes[0]?.metadata.name) world.client.remove(resource, metadata);
    }
  }
}

/** As when its Pod cannot start. */
function unready(): void {
  const present = set();
  world.kraftlets.isPending = true;
  if (present) world.client.seed(statefulSets, { ...present, status: { readyReplicas: 0 } });
}

describe('a machine whose Kraftlet runs', () => {
  test('costs a look into the cache: nobody is asked', async () => {
    await world.initialized();
    const { length } = world.client.calls;
    const points = world.wire.passed.length;
    expect(await world.pass()).toBeUndefined();
    expect(world.client.calls).toHaveLength(length);
    expect(world.wire.passed).toHaveLength(points);
  });
});

describe('a Kraftlet StatefulSet that somebody deleted', () => {
  test('is made again, for the same machine and Node, and Pods go on to be served', async () => {
    await world.initialized();
    world.bindPod('cart-0');
    const claim = world.find();
    const { length } = world.client.writes;
    removeRelease(['statefulsets']);
    await world.pass();
    expect(writtenSince(length)).toEqual(['patch statefulsets']);
    expect(told('KraftletReinstalled')).toEqual([
      expect.stringMatching(/^StatefulSet of Kraftlet release web-\w+ had gone and is made again$/),
    ]);

    await world.look();
    await world.look();
    expect(set()?.status?.readyReplicas).toBe(1);
    expect(world.find()).toEqual(claim);
    await world.client.delete(pods, { namespace: 'shop', name: 'cart-0' });
    await world.look();
    expect(world.client.peek(pods, { namespace: 'shop', name: 'cart-0' })).toBeUndefined();
    await world.delete();
    await world.gone();
    expect(world.cloud.made).toHaveLength(1);
    expect(world.leaks()).toEqual(noLeaks);
  });

  test('is made again also before the Node is ready, when no deadline runs any more', async () => {
    world.kraftlets.isNotReady = true;
    await world.until(() => world.condition('Registered')?.status === 'True');
    removeRelease(['statefulsets']);
    await world.look();
    expect(set()).toBeDefined();
    world.kraftlets.isNotReady = false;
    await world.initialized();
  });

  test('is left alone while it is on its way out, and made again then', async () => {
    await world.initialized();
    const present = set();
    const going = { deletionTimestamp: world.clock.stamp(), finalizers: ['foregroundDeletion'] };
    const metadata = { ...present?.metadata, ...going };
    world.client.seed(statefulSets, { ...present, metadata, status: { readyReplicas: 0 } });
    const { length } = world.client.writes;
    expect(await world.pass()).toBe(minutes(1));
    expect(writtenSince(length)).toEqual([]);
    removeRelease(['statefulsets']);
    await world.pass();
    expect(writtenSince(length)).toEqual(['patch statefulsets']);
  });

  test('is there in truth where only the cache has lost it', async () => {
    await world.initialized();
    vi.spyOn(world.caches.statefulSets, 'by').mockReturnValue([]);
    const { length } = world.client.writes;
    await world.pass();
    expect(writtenSince(length)).toEqual([]);
    expect(told('KraftletReinstalled')).toEqual([]);
  });

  test('stays away where the claim leaves and the cache has not heard of it', async () => {
    await world.initialized();
    world.caches.nodeClaims.fallBehind();
    await world.client.delete(nodeClaims, { name: 'web-1' });
    removeRelease(['statefulsets']);
    const { length } = world.client.writes;
    await world.pass();
    expect(writtenSince(length)).toEqual([]);
  });

  test('stays away where the instance has ended', async () => {
    await world.initialized();
    const [instance] = world.cloud.made;
    if (instance) world.cloud.kill(instance);
    removeRelease(['statefulsets']);
    const { length } = world.client.writes;
    await world.pass();
    expect(writtenSince(length)).toEqual([]);
  });
});

describe.each(releaseResources.map(({ plural, kind }) => [plural, kind] as const))(
  'with a Kraftlet that does not run, %s of its release',
  (plural, kind) => {
    test('are made again, and nothing else is touched', async () => {
      await world.initialized();
      unready();
      removeRelease([plural]);
      const { length } = world.client.writes;
      await world.pass();
      expect(writtenSince(length)).toEqual([`patch ${plural}`]);
      expect(told('KraftletReinstalled')[0]).toMatch(new RegExp(`^${kind} of Kraftlet release`));
      await world.pass();
      expect(world.client.writes.slice(length)).toHaveLength(1);
    });
  },
);

test('a whole release that somebody deleted comes back in order, the StatefulSet last', async () => {
  await world.initialized();
  const all = releaseResources.map(({ plural }) => plural);
  removeRelease(all);
  const { length } = world.client.writes;
  await world.pass();
  const made = world.client.writes.slice(length).map(({ plural }) => plural);
  expect(made.toSorted()).toEqual(all.toSorted());
  expect(made.at(-1)).toBe('statefulsets');
});

describe('a Kraftlet that cannot run', () => {
  test('is looked after once a minute, and people read why', async () => {
    await world.initialized();
    removeRelease(['statefulsets']);
    world.kraftlets.isPending = true;
    await world.look();
    await world.look();
    expect(await world.pass()).toBe(minutes(1));
    expect(told('KraftletPodUnschedulable')[0]).toMatch(/0\/1 nodes are available.*\(KPU327\)$/);
    expect(told('KraftletReinstalled')).toHaveLength(1);
    expect(world.find()?.metadata.deletionTimestamp).toBeUndefined();
  });

  test('for want of its chart comes back with the chart', async () => {
    await world.initialized();
    removeRelease(['statefulsets']);
    const fault = {
      code: 'KPU260',
      condition: 'KraftletReady',
      reason: 'ChartUnavailable',
    } as const;
    world.releases.renderFailure = new NodeClassError(fault, 'the registry is away');
    expect(await world.pass()).toBe(minutes(1));
    expect(told('ChartUnavailable')).toEqual(['the registry is away (KPU260)']);
    world.releases.renderFailure = undefined;
    await world.pass();
    expect(set()).toBeDefined();
  });

  test('for a refusal of the API server says so', async () => {
    await world.initialized();
    removeRelease(['statefulsets']);
    const refused = refusal(403, 'Forbidden', 'exceeded quota');
    world.client.fail(({ verb, plural }) => verb === 'patch' && plural === 'statefulsets', refused);
    expect(await world.pass()).toBe(minutes(1));
    expect(told('KraftletReleaseRefused')[0]).toMatch(/exceeded quota \(KPU328\)$/);
  });

  test('for want of its revision waits for it', async () => {
    await world.initialized();
    const key = { namespace: world.namespace, name: revisionName };
    const stored = world.client.peek(controllerRevisions, key);
    world.client.remove(controllerRevisions, key);
    await world.clock.forward(seconds(10));
    expect(await world.pass()).toBeUndefined(); // while it runs nobody needs it
    removeRelease(['statefulsets']);
    expect(await world.pass()).toBe(minutes(1));
    expect(told('RevisionMissing')[0]).toMatch(/KPU334/);
    if (stored) world.client.seed(controllerRevisions, stored);
    await world.pass();
    expect(set()).toBeDefined();
  });
});
