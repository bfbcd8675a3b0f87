import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test } from 'vitest';

import { delay, unheard } from '#sandbox/cloud/wire/faults.ts';
import type { WireService } from '#sandbox/cloud/wire/service.ts';
import type { LocalProcess } from '#sandbox/processes/local-process.ts';
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { tags } from '#schemas/names.ts';
import { seconds } from '#schemas/time/clock.ts';
import { nodeClass, standaloneClaim } from '#test/world/objects.ts';
import { startOperatorProcess } from '#test/world/operator-process.ts';
import { TestWorld } from '#test/world/test-world.ts';

let world: TestWorld;
let operator: LocalProcess;
let begun = 0;
let count = 0;

/** It acts; its answer comes when whoever asked is long dead. */
const late = <P>() => delay<P>(seconds(20));

beforeAll(async () => {
  world = await TestWorld.start(inject('tools'), { operator: false });
  operator = await startOperatorProcess(world.world);
  await world.expectUsable(nodeClass());
});
beforeEach(() => {
  begun = Date.now();
});
afterEach(async () => {
  world.cloud.ec2.faults.clear();
  world.cloud.route53.faults.clear();
  await world.expectDeleted(...(await world.claims()));
  await world.expectNoLeaks();
});
afterAll(async () => world?.stop());

test('killed between RunInstances and its answer: one instance', async () => {
  world.cloud.ec2.faults.next('RunInstances', late());
  const claim = await made();
  await called(world.cloud.ec2, 'RunInstances');

  await killAndStartAgain();

  await world.expectCondition(claim, 'Initialized', { status: 'True' });
  expect(instancesOf(claim)).toHaveLength(1);
});

test('killed when the answer had come and could not be written: one instance', async () => {
  world.cloud.ec2.faults.next('RunInstances', delay(seconds(2)));
  const claim = await made();
  await called(world.cloud.ec2, 'RunInstances');
  await world.world.plane.pauseApiServer();
  await world.eventually('an answer that cannot be written', async () =>
    (await operator.lastLines(1000)).includes(
      `nodeclaims/${claim.metadata.name}/status: no answer`,
    ),
  );

  await killAndStartAgain(() => world.world.plane.resumeApiServer());

  await world.expectCondition(claim, 'Initialized', { status: 'True' });
  expect(instancesOf(claim)).toHaveLength(1);
});

test('killed while nobody heard its RunInstances: one instance', async () => {
  world.cloud.ec2.faults.next('RunInstances', unheard({ times: 1000 }));
  const claim = await made();
  await called(world.cloud.ec2, 'RunInstances');

  await killAndStartAgain(() => world.cloud.ec2.faults.clear());

  await world.expectCondition(claim, 'Initialized', { status: 'True' });
  expect(instancesOf(claim)).toHaveLength(1);
});

test('killed while a name is written, and again while the instance is ended: nothing is left', async () => {
  world.cloud.route53.faults.next('ChangeResourceRecordSets', late());
  const claim = await made();
  await called(world.cloud.route53, 'ChangeResourceRecordSets');
  await killAndStartAgain();
  await world.expectCondition(claim, 'Initialized', { status: 'True' });
  expect(instancesOf(claim)).toHaveLength(1);

  world.cloud.ec2.faults.next('TerminateInstances', late());
  await world.expectDeleted(claim);
  await called(world.cloud.ec2, 'TerminateInstances');
  await killAndStartAgain();

  await world.expectGone(claim);
  await world.expectNoLeaks();
});

async function made(): Promise<Live<NodeClaim>> {
  const [claim] = await world.expectApplied(standaloneClaim(`crash-${++count}`));
  return claim as Live<NodeClaim>;
}

async function killAndStartAgain(meanwhile: () => unknown = () => {}): Promise<void> {
  operator.kill('SIGKILL');
  await operator.exited;
  await meanwhile();
  operator = await startOperatorProcess(world.world);
}

/** All that was ever launched for it. */
function instancesOf({ metadata }: Live<NodeClaim>): string[] {
  const { all } = world.cloud.ec2.instances;
  return all.filter(({ tags: own }) => own[tags.claimUid] === metadata.uid).map(({ id }) => id);
}

/** Called since the story began; perhaps not answered yet. */
async function called<P>(service: WireService<P>, action: string): Promise<void> {
  await world.eventually(`a call of ${action}`, async () =>
    service.callsOf(action).some(({ at }) => at >= begun),
  );
}
