import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';

import { readLedger } from '#controller/reservations/ledger.ts';
import { configMapName, wholeCluster } from '#controller/reservations/names.ts';
import { isNotFound } from '#kube/client/errors.ts';
import { isLive } from '#sandbox/cloud/ec2/instance.ts';
import { unheard } from '#sandbox/cloud/wire/faults.ts';
import { readUserData } from '#sandbox/machine/user-data.ts';
import { render } from '#sandbox/manifests/render.ts';
import type { LocalProcess } from '#sandbox/processes/local-process.ts';
import { nodeClaims, nodePools, type NodeClaim, type NodePool } from '#schemas/karpenter/types.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { configMaps, nodes, pods } from '#schemas/kubernetes/resource.ts';
import { unikraftNodeClasses } from '#schemas/nodeclass/types.ts';
import { quotaPolicy } from '#schemas/quotapolicy/samples.ts';
import { unikraftQuotaPolicies, type UnikraftQuotaPolicySpec } from '#schemas/quotapolicy/types.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';
import { nodeClass, nodePool, optedInPod, standaloneClaim } from '#test/world/objects.ts';
import { startOperatorProcess } from '#test/world/operator-process.ts';
import { TestWorld } from '#test/world/test-world.ts';
import { UseOverTime } from '#test/world/use-over-time.ts';

/** Machines of this story have four vCPUs, of which Pods get two; each Pod takes both. */
const perMachine = 2;
const most = 10;
const namespace = 'karpenter-unikraft';
const time = new SystemClock();

let world: TestWorld;
let use: UseOverTime;
const operators: LocalProcess[] = [];

beforeAll(async () => {
  world = await TestWorld.start(inject('tools'), { operator: false });
  await start();
  await world.expectUsable(nodeClass());
  await stop();
}, minutes(2));
beforeEach(() => {
  use = UseOverTime.start(world.world, configMapName(wholeCluster));
});
afterEach(async () => {
  use.stop();
  world.cloud.ec2.faults.clear();
  if (operators.length === 0) await start();
  const policies = await world.client.list(unikraftQuotaPolicies);
  const pools = await world.client.list(nodePools);
  await deletePods();
  await world.expectDeleted(...pools.items, ...(await world.claims()), ...policies.items);
  await world.expectNoLeaks(minutes(2));
  await stop();
}, minutes(3));
afterAll(async () => world?.stop());

/** Every machine that there ever was in this test, and those that live. */
const alive = () => world.cloud.ec2.instances.all.filter(isLive);

/** Kubernetes and Kraftlet may be quicker. */
async function deletePods(): Promise<void> {
  const { items } = await world.client.list(pods, { namespace: 'default' });
  const ended = items.map(async ({ metadata }) => world.client.delete(pods, metadata));
  for (const { reason } of (await Promise.allSettled(ended)).filter(
    (one) => one.status === 'rejected',
  )) {
    if (!isNotFound(reason)) throw reason as Error;
  }
}

async function start(): Promise<LocalProcess> {
  const operator = await startOperatorProcess(world.world);
  operators.push(operator);
  return operator;
}

async function stop(): Promise<void> {
  await Promise.all(operators.splice(0).map(async (one) => one.stop()));
}

async function policy(changes: Partial<UnikraftQuotaPolicySpec>, selector = true): Promise<void> {
  const made = quotaPolicy(changes);
  if (!selector) delete made.spec.selector;
  await world.expectApplied(made);
}

const statusOf = async () =>
  (await world.client.get(unikraftQuotaPolicies, { name: 'team-shop' })).status;

/** How many claims hold room in the cluster's ledger. */
async function reserved(): Promise<number> {
  const key = { namespace, name: configMapName(wholeCluster) };
  const stored = await world.client.get(configMaps, key).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
    return undefined;
  });
  return (stored && readLedger(stored)?.size) ?? 0;
}

/** Two pools of a team, each with Pods that fit on nothing else. */
function teamPool(name: string, limits?: Record<string, string>): NodePool {
  const made = nodePool({ name, ...(limits && { limits }) });
  made.metadata = { ...made.metadata, labels: { team: 'shop' } };
  made.spec.template.metadata = { labels: { pool: name } };
  return made;
}

async function pendPods(count: number): Promise<void> {
  await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const pool = index % 2 === 0 ? 'web' : 'batch';
      const made = optedInPod(`${pool}-${index}`, { cpu: String(perMachine) });
      made.spec = { ...made.spec!, nodeSelector: { ...made.spec?.nodeSelector, pool } };
      return world.client.create(pods, made);
    }),
  );
}

async function running(): Promise<number> {
  const { items } = await world.client.list(pods, { namespace: 'default' });
  return items.filter(({ status }) => status?.phase === 'Running').length;
}

describe('a ceiling of ten machines', () => {
  test(
    '200 claims made at once become exactly ten machines, and a lower ceiling ends none of them',
    async () => {
      await policy({ enforcement: 'Deny', ceilings: { total: { nodes: most } } }, false);
      await start();
      const names = Array.from({ length: 200 }, (_, index) => `claim-${index}`);

      await Promise.all(
        names.map(async (name) => world.client.create(nodeClaims, standaloneClaim(name))),
      );

      const claims = await world.eventually(
        'ten claims, all with a Node',
        async () => {
          const left = await world.claims();
          return left.length === most && left.every(hasNode) && left;
        },
        minutes(2),
      );
      expect(alive()).toHaveLength(most);
      expect(use.most).toEqual({ instances: most * perMachine, reservations: most * perMachine });
      expect(world.cloud.ec2.instances.all.length).toBe(most); // none was launched and ended
      const refused = (await world.eventsOfOperator()).find(
        ({ reason }) => reason === 'LimitReached',
      );
      expect(refused?.message).toMatch(
        /UnikraftQuotaPolicy team-shop is at its limit of 10 nodes \(10 in use\).*KPU341/,
      );
      await world.expectConditionOf(unikraftQuotaPolicies, 'team-shop', 'LimitReached', {
        status: 'True',
        reason: 'LimitReached',
      });

      await policy({ enforcement: 'Deny', ceilings: { total: { nodes: 3 } } }, false);
      await world.eventually('the lower ceiling is shown', async () => {
        const { total } = (await statusOf()) ?? {};
        return total?.effective?.['nodes'] === '3' && total.use?.['nodes'] === '10';
      });
      const one = await world.client.create(nodeClaims, standaloneClaim('one-more'));
      await world.expectGone(one, { reason: 'LimitReached' });

      const [kept, ids] = [await world.claims(), claims.map(({ metadata }) => metadata.uid)];
      expect(kept.map(({ metadata }) => metadata.uid).toSorted()).toEqual(ids.toSorted());
      expect(alive()).toHaveLength(most);

      await world.expectDeleted(...kept.slice(0, 7));
      await world.eventually('seven gone', async () => (await world.claims()).length === 3);
      const another = await world.client.create(nodeClaims, standaloneClaim('still-one-too-many'));
      await world.expectGone(another, { reason: 'LimitReached' });
      expect(alive()).toHaveLength(3);
    },
    minutes(4),
  );

  test(
    'killed between reservation and launch, again and again: never above, and ten in the end',
    async () => {
      const ceilings = { total: { nodes: most }, perNodePool: { nodes: 7 } };
      await policy({ enforcement: 'Cap', ceilings });
      await world.expectApplied(teamPool('web'), teamPool('batch', { nodes: '100' }));
      const before = world.cloud.ec2.instances.all.length;
      await pendPods(200);

      for (let times = 1; times <= 2; times++) {
        world.cloud.ec2.faults.next('RunInstances', unheard({ times: 10_000 }));
        const operator = await start();
        await world.eventually('room taken', async () => (await reserved()) >= times, minutes(1));
        operator.kill('SIGKILL');
        await operator.exited;
        operators.length = 0;
        expect(world.cloud.ec2.instances.all.length).toBe(before); // nobody heard of any machine
        world.cloud.ec2.faults.clear();
      }
      await start();
      await world.eventually(
        'ten Pods running',
        async () => (await running()) === most,
        minutes(2),
      );
      await time.sleep(seconds(12)); // another pass over the Pods that wait

      expect(alive()).toHaveLength(most);
      expect(use.most.instances).toBe(most * perMachine);
      expect(use.most.reservations).toBe(most * perMachine);
      expect(await reserved()).toBe(most);
      const perPool = Map.groupBy(
        await world.claims(),
        ({ metadata }) => metadata.labels?.['pool'],
      );
      for (const own of perPool.values()) expect(own.length).toBeLessThanOrEqual(7);
    },
    minutes(5),
  );

  test(
    'two that lead at once, one of them thawed amid its launches: never above',
    async () => {
      await policy({ enforcement: 'Cap', ceilings: { total: { nodes: most } } });
      await world.expectApplied(teamPool('web'), teamPool('batch'));
      await pendPods(200);
      const frozen = await start();
      await world.eventually('room taken', async () => (await reserved()) > 0, minutes(1));
      frozen.kill('SIGSTOP');

      await start();
      await world.eventually(
        'ten Pods running',
        async () => (await running()) === most,
        minutes(2),
      );
      frozen.kill('SIGCONT');
      await time.sleep(seconds(12));
      const some = (await world.claims()).slice(0, 4);
      await world.expectDeleted(...some); // room for four, and two who want to give it away
      await world.eventually(
        'ten again',
        async () => {
          const left = await world.claims();
          return (await running()) === most && left.filter(hasNode).length === most;
        },
        minutes(2),
      );

      expect(frozen.exit).toBeUndefined();
      expect(alive()).toHaveLength(most);
      expect(use.most.instances).toBe(most * perMachine);
      expect(use.most.reservations).toBe(most * perMachine);
    },
    minutes(5),
  );
});

describe('what one machine may offer', () => {
  test(
    'is cut in its user data, its Node and its claim, and nowhere in a spec',
    async () => {
      const ceilings = {
        perMachine: { vcpus: 1, memory: '3Gi', instances: 7 },
        perNodePool: { cpu: 1 },
      };
      await policy({ enforcement: 'Cap', ceilings });
      const wanted = teamPool('web', { cpu: '1000' });
      await world.expectApplied(wanted);
      const before = await specs();
      await start();
      const one = optedInPod('one', { cpu: '1' }, {});
      await world.expectApplied(one, optedInPod('two', { cpu: '1' }));

      await world.eventually('one Pod running', async () => (await running()) === 1, minutes(1));
      const [claim] = await world.expectClaims(1);
      await world.expectCondition(claim!, 'Initialized', { status: 'True' });

      const offers = { cpu: '1', memory: '3Gi', pods: '7' };
      const { status } = await world.client.get(nodeClaims, claim!.metadata);
      const node = await world.client.get(nodes, { name: status?.nodeName ?? '' });
      expect(status?.capacity).toEqual(offers);
      expect(node.status?.capacity).toEqual(offers);
      const [user] = alive().flatMap(({ launch }) => readUserData(launch.userData).users);
      expect(user?.quotas).toMatchObject({ vcpus: 1, memoryMiB: 3072, instances: 7 });

      const told = await world.expectConditionOf(nodePools, 'web', 'LimitReached', {
        status: 'True',
      });
      expect(told.message).toMatch(
        /^Limit cpu 1 of UnikraftQuotaPolicy team-shop is reached, 1 in use.*\(KPU341\)$/,
      );
      const capped = await world.expectConditionOf(nodePools, 'web', 'Capped', { status: 'True' });
      expect(capped.message).toBe(
        'spec.limits.cpu: 1000 is asked for, 1 holds by UnikraftQuotaPolicy team-shop (KPU344)',
      );
      await world.eventually('the policy shows both', async () => {
        const [own] = (await statusOf())?.nodePools ?? [];
        return own?.requested?.['cpu'] === '1k' || own?.requested?.['cpu'] === '1000';
      });
      expect((await statusOf())?.nodePools?.[0]).toMatchObject({
        effective: { cpu: '1' },
        use: { cpu: '1' },
        machineEffective: { vcpus: '1', memory: '3072Mi', instances: '7' },
      });
      expect(await specs()).toEqual(before);
    },
    minutes(3),
  );
});

test(
  'an installation without the CRD works, and goes by policies once it has it',
  async () => {
    const crds = await render(inject('tools').kubectl, 'kustomize/crd');
    const crd = crds.filter(({ metadata }) => metadata.name.startsWith('unikraftquotapolicies'));
    await world.expectDeleted(...crd);
    await start();
    await world.expectApplied(teamPool('web'), optedInPod('first', { cpu: String(perMachine) }));
    await world.expectScheduled('first');

    await world.expectApplied(...crd);
    await policy({ enforcement: 'Cap', ceilings: { total: { nodes: 1 } } });
    await world.eventually('the policy is seen', async () => (await statusOf())?.total, minutes(1));
    await world.expectApplied(optedInPod('second', { cpu: String(perMachine) }));

    await world.expectConditionOf(nodePools, 'web', 'LimitReached', { status: 'True' });
    expect(alive()).toHaveLength(1);
  },
  minutes(3),
);

const hasNode = ({ status }: Live<NodeClaim>): boolean => status?.nodeName !== undefined;

/** What people wrote, with how often it was changed. */
async function specs(): Promise<unknown[]> {
  const pool = await world.client.get(nodePools, { name: 'web' });
  const ofMachines = await world.client.get(unikraftNodeClasses, { name: 'default' });
  return [pool, ofMachines].map(({ metadata, spec }) => [metadata.generation, spec]);
}
