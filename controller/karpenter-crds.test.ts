import { afterEach, beforeEach, expect, test } from 'vitest';

import { seconds } from '#schemas/time/clock.ts';

import { KarpenterCrds } from './karpenter-crds.ts';
import { memoryContext } from './testing/context.ts';

const path = '/apis/karpenter.sh/v1';
const serving = (...names: readonly string[]) => ({ resources: names.map((name) => ({ name })) });

let world: ReturnType<typeof memoryContext>;
let crds: KarpenterCrds;
let stop: AbortController;
let running: Promise<void>;
beforeEach(async () => {
  world = memoryContext();
  crds = new KarpenterCrds(world.context);
  stop = new AbortController();
  running = crds.run(stop.signal);
  await world.clock.forward(0);
});
afterEach(async () => {
  stop.abort();
  await running;
});

test('a cluster without Karpenter’s kinds is told what to install, with one code', () => {
  expect(crds.check()).toBe(
    "karpenter.sh/v1 nodepools and nodeclaims are not served: install Karpenter's CRDs (KPU200)",
  );
});

test('it becomes ready by itself once they are served', async () => {
  world.client.paths.set(path, serving('nodepools'));
  await world.clock.forward(seconds(5));
  expect(crds.check()).toContain('karpenter.sh/v1 nodeclaims are not served');
  world.client.paths.set(path, serving('nodepools', 'nodeclaims', 'nodeclaims/status'));
  await world.clock.forward(seconds(5));
  expect(crds.check()).toBeUndefined();
});
