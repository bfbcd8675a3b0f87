import { afterEach, beforeEach, expect, test } from 'vitest';

import { Metrics } from '#kube/metrics.ts';
import { pods } from '#schemas/kubernetes/resource.ts';
import { labels } from '#schemas/names.ts';
import { seconds } from '#schemas/time/clock.ts';

import { World } from './testing/world.ts';

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world.end());

test('K39: pending Pods are told by zone, and a zone that nobody waits for any more is gone', async () => {
  const metrics = new Metrics();
  const zones = async () =>
    (await metrics.text())
      .split('\n')
      .filter((line) => line.startsWith('karpenter_scheduler_pending_pods_by_effective_zone_count'))
      .map((line) => line.replace(/^[^{]*/, ''));
  world.start({}, { metrics }); // and no pool, so they wait
  const nodeSelector = { [labels.zone]: '1a' };
  for (const name of ['a', 'b']) world.seedPod(name, { cpu: '1' }, { spec: { nodeSelector } });
  world.seedPod('c');
  await world.clock.forward(seconds(2));
  expect(await zones()).toEqual([
    '{controller="provisioner",zone="1a"} 2',
    '{controller="provisioner",zone="flexible"} 1',
  ]);

  for (const name of ['a', 'b', 'c']) world.client.remove(pods, { namespace: 'shop', name });
  world.seedPod('d');
  await world.clock.forward(seconds(15));
  expect(await zones()).toEqual(['{controller="provisioner",zone="flexible"} 1']);

  world.client.remove(pods, { namespace: 'shop', name: 'd' });
  await world.clock.forward(seconds(15));
  expect(await zones()).toEqual([]);
});
