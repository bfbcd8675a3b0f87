import { afterAll, beforeAll, expect, inject, test } from 'vitest';

import { isClean } from '#sandbox/world/leaks.ts';
import { CrashWorld } from '#test/crash/crash-world.ts';
import { casesFor, VariantRun } from '#test/crash/variant.ts';

let world: CrashWorld;

beforeAll(async () => {
  world = await CrashWorld.start(inject('tools'));
});
afterAll(async () => world?.stop());

/** Steps that change something outside, and lie far apart: `npm run test:crash` plays all of them, and more. */
const chosen = [
  'kubernetes: create nodeclaims',
  'kubernetes: patch nodeclaims revision, launch-intent, labels',
  'ec2: RunInstances',
  'route53: POST rrset',
  'kubernetes: patch nodes labels, annotations, finalizers, ownerReferences, taints',
  'ec2: TerminateInstances',
  'kubernetes: delete nodes',
  'kubernetes: delete secrets *-credentials',
];

test('killed at steps from one end of a life to the other, it leaves nothing and doubles nothing', async () => {
  const run = await VariantRun.start(world, { cloud: 'aws', variant: 'restart', tell: () => {} });
  const steps = await run.record(1);
  expect(steps.map(({ step }) => step)).toEqual(expect.arrayContaining(chosen));
  const own = steps.filter(({ step }) => chosen.includes(step));
  const cases = casesFor('restart', own).filter(({ stops }) => stops.length === 1);

  const outcome = await run.play(cases);

  const { machines: launched, leaks } = outcome;
  const stopped = cases.length;
  expect(outcome).toMatchObject({ stopped, stuck: [], unmet: [], doubled: [] });
  expect(outcome).toMatchObject({ collected: 0, launched });
  expect({ leaks, isClean: isClean(leaks) }).toMatchObject({ isClean: true });
  await run.stop();
});
