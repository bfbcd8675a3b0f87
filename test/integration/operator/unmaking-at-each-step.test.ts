import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';

import { delay, lost, unheard } from '#sandbox/cloud/wire/faults.ts';
import { nodeClaims, type NodeClaim } from '#schemas/karpenter/types.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';
import { nodeClass, nodePool, standaloneClaim, workload } from '#test/world/objects.ts';
import { TestWorld } from '#test/world/test-world.ts';

let world: TestWorld;
let release: () => void = () => {};
let count = 0;

beforeAll(async () => {
  world = await TestWorld.start(inject('tools'));
  const { kraftlet } = nodeClass().spec;
  const image = { name: 'registry.invalid/kraftlet' };
  const broken = nodeClass({ kraftlet: { ...kraftlet, values: { image } } }, 'without-image');
  const patient = nodeClass({ deadlines: { launch: '1h' } });
  await world.expectUsable(patient, broken);
});
afterEach(() => {
  release();
  world.cloud.ec2.faults.clear();
});
afterAll(async () => world?.stop());

type Claim = Live<NodeClaim>;

interface Stop {
  /** Lets the next machine get no further. */
  readonly script?: () => unknown;
  readonly claim?: NodeClaim;
  /** Resolves when it has got that far. */
  readonly reached: (claim: Claim, since: number) => Promise<unknown>;
  /** What the rest of the world does after the claim was deleted. */
  readonly afterwards?: (claim: Claim) => Promise<unknown>;
}

const stops: Record<string, Stop> = {
  'before anything is decided': {
    script: async () => {
      await world.clock.forward(minutes(6)); // what is known of sizes is stale
      world.cloud.ec2.faults.next('DescribeInstanceTypes', delay(seconds(2)));
    },
    reached: calledAfter('DescribeInstanceTypes'),
  },
  'while its launch goes unheard': {
    script: () => world.cloud.ec2.faults.next('RunInstances', unheard({ times: 1000 })),
    reached: calledAfter('RunInstances'),
    afterwards: async (claim) => {
      const reason = 'AwaitingCloud';
      await world.expectCondition(claim, 'InstanceTerminated', { status: 'Unknown', reason });
      await world.clock.forward(minutes(2)); // whatever was called would show by now
    },
  },
  'while its launch is not answered': {
    script: () => world.cloud.ec2.faults.next('RunInstances', lost({ times: 1000 })),
    reached: calledAfter('RunInstances'),
  },
  'when its launch was not heard for minutes, then done and not answered': {
    script: () => {
      world.cloud.ec2.faults.next('RunInstances', unheard({ times: 1000 }));
      world.cloud.ec2.instances.next({ invisible: seconds(3) });
    },
    reached: async (claim, since) => {
      const unheardOf = async () => {
        const { status } = await world.client.get(nodeClaims, { name: claim.metadata.name });
        return status?.conditions?.some(({ reason }) => reason === 'OutcomeUnknown');
      };
      // The stories before left the region unreachable, which is asked once a minute.
      await world.eventually('a launch that nobody heard', unheardOf, minutes(3));
      await world.clock.forward(minutes(4));
      world.cloud.ec2.faults.clear();
      world.cloud.ec2.faults.next('RunInstances', lost({ times: 1000 }));
      await world.eventually('an instance that nobody sees', async () => {
        await world.clock.forward(minutes(1)); // the longest pause between two tries
        const { live } = world.cloud.ec2.instances;
        return live.some(({ launchedAt }) => Date.parse(launchedAt) >= since);
      });
    },
  },
  'while its instance starts': {
    script: () => world.cloud.ec2.instances.next({ running: minutes(10) }),
    reached: waitingFor('InstanceRunning', 'InstancePending'),
  },
  'while its name is not known': {
    script: () => {
      release = world.cloud.route53.zones.hold();
    },
    reached: waitingFor('DNSReady', 'WaitingForPropagation'),
  },
  'while its platform is degraded': {
    script: () => world.cloud.machines.next({ health: 'degraded' }),
    reached: waitingFor('PlatformHealthy', 'PlatformNotHealthy'),
  },
  'while its Kraftlet cannot start': {
    claim: standaloneClaim('', undefined, 'without-image'),
    reached: waitingFor('KraftletInstalled', 'KraftletErrImagePull', 'False'),
  },
  'when its Node is registered and not yet initialised': {
    claim: withStartupTaint(standaloneClaim('')),
    reached: waitingFor('Initialized', 'StartupTaintsExist'),
  },
};

test.each(Object.entries(stops))(
  'a claim deleted %s leaves nothing',
  async (_, stop) => {
    await world.clock.forward(minutes(1)); // a region that went unheard in the story before is asked again
    const since = Date.now();
    await stop.script?.();
    const claim = await made(stop.claim ?? standaloneClaim(''));
    await stop.reached(claim, since);

    await world.expectDeleted(claim);
    await stop.afterwards?.(claim);

    await world.expectGone(claim);
    await world.expectNoLeaks();
    expect(world.cloud.ec2.instances.live).toEqual([]);
  },
  300_000,
);

test('a claim deleted under running Pods leaves nothing, and the Pods run elsewhere', async () => {
  await world.expectApplied(nodePool(), workload('Deployment', 'web', 2));
  const [claim] = await world.expectClaims(1);
  if (!claim) throw new Error('no claim');
  await world.expectCondition(claim, 'Initialized', { status: 'True' });
  await world.expectRunning('web', 2);

  await world.expectDeleted(claim);

  await world.expectGone(claim);
  const [other] = await world.expectClaims(1);
  expect(other?.metadata.uid).not.toBe(claim.metadata.uid);
  await world.expectRunning('web', 2);
  await world.expectDeleted(workload('Deployment', 'web', 0));
  await world.expectDeleted(...(await world.claims()));
  await world.expectNoLeaks();
});

async function made(claim: NodeClaim): Promise<Claim> {
  const name = `by-hand-${++count}`;
  const [live] = await world.expectApplied({ ...claim, metadata: { name } });
  return live as Claim;
}

/** The cloud was called since then; it may not have answered. */
function calledAfter(action: string): Stop['reached'] {
  return async (_, since) =>
    world.eventually(`a call of ${action}`, async () =>
      world.cloud.ec2.callsOf(action).some(({ at }) => at >= since),
    );
}

function waitingFor(condition: string, reason: string, status = 'Unknown'): Stop['reached'] {
  return async (claim) => world.expectCondition(claim, condition, { status, reason });
}

function withStartupTaint(claim: NodeClaim): NodeClaim {
  const startupTaints = [{ key: 'example.com/not-yet', effect: 'NoSchedule' as const }];
  return { ...claim, spec: { ...claim.spec, startupTaints } };
}
