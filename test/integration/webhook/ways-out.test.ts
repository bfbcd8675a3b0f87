import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';

import { ControlPlane } from '#sandbox/control-plane/control-plane.ts';
import { Run } from '#sandbox/processes/run.ts';
import { nodePools, type NodePool } from '#schemas/karpenter/types.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import { namespaces, pods } from '#schemas/kubernetes/resource.ts';
import { capacityType, pool } from '#schemas/rules/samples.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';
import {
  mutatingWebhookConfigurations,
  validatingWebhookConfigurations,
  type WebhookConfiguration,
} from '#webhook/certificate/ca-bundle.ts';

import { InstalledWebhook, kubectl, type Replica } from './installed-webhook.ts';
import { inject_, podWith, selector, ukc } from './pods.ts';

/** The webhook among others, in the way, and on its way out. */

const tools = inject('tools');
const within = { timeout: 20_000, interval: 100 };
const name = 'karpenter-unikraft';
let run: Run;
let plane: ControlPlane;
let webhook: InstalledWebhook;
let replica: Replica;

beforeAll(async () => {
  run = await Run.open('webhook-ways-out');
  plane = await ControlPlane.start({ tools, run, audit: false });
  webhook = await InstalledWebhook.install(plane, tools, new SystemClock());
  replica = await webhook.startReplica();
  await injects();
});

afterAll(async () => {
  await webhook?.stop();
  await plane?.stop();
  await run?.close();
});

const optedIn = podWith({ labels: { [inject_]: 'true' } });
const tried = async (pod: Pod) => plane.admin.create(pods, pod, { dryRun: true });

async function injects(): Promise<void> {
  await vi.waitFor(async () => {
    expect((await tried(optedIn)).spec?.nodeSelector).toEqual(selector);
  }, within);
}

function poolOf(poolName: string, ...values: string[]): NodePool {
  return { ...pool([capacityType('In', ...values)]), metadata: { name: poolName } };
}

async function merge(poolName: string, body: object): Promise<unknown> {
  return plane.admin.patch(nodePools, { name: poolName }, { type: 'merge', body });
}

const toSpot = { spec: { template: { spec: { requirements: [capacityType('In', 'spot')] } } } };

describe('A4, B7: a pool that is being deleted', () => {
  test('cannot become what is refused, and can still be let go', async () => {
    const held = poolOf('held', 'on-demand');
    await plane.admin.create(nodePools, {
      ...held,
      metadata: { ...held.metadata, finalizers: ['example.com/hold'] },
    });
    await plane.admin.delete(nodePools, { name: 'held' });

    await expect(merge('held', toSpot)).rejects.toMatchObject({ code: 422 });
    await merge('held', { metadata: { finalizers: null } });
    await expect(plane.admin.get(nodePools, { name: 'held' })).rejects.toMatchObject({ code: 404 });
  });
});

describe('a Pod whose label says neither of the two values that count', () => {
  const printed = async (value: string): Promise<string> => {
    const pod = { apiVersion: 'v1', kind: 'Pod', ...podWith({ labels: { [inject_]: value } }) };
    return kubectl(plane, tools, ['create', '--dry-run=server', '-f', '-'], pod);
  };

  test('is left alone, and whoever makes it is told', async () => {
    const told = await printed('yes');
    expect(told).toContain('Warning: KPU159 metadata.labels: Only "true" and "false" count');
    expect(told).toContain('pod/subject created');
    expect(told.match(/Warning:/g)).toHaveLength(1); // it is not ours, so no other rule is asked
    expect(await printed('false')).not.toContain('Warning:');
  });
});

describe('a Pod that was injected', () => {
  test('B10: is labelled, annotated and given a debugger without being changed again', async () => {
    const made = await plane.admin.create(
      pods,
      podWith({ name: 'made', labels: { [inject_]: 'true' } }),
    );
    const before = await replica.reviews('/mutate/pods');
    const key = { namespace: 'default', name: 'made' };
    const note = { metadata: { annotations: { note: 'x' }, labels: { more: 'y' } } };
    await plane.admin.patch(pods, key, { type: 'merge', body: note });
    const ephemeralContainers = [{ name: 'debug', image: 'example.com/debug:1' }];
    const body = { spec: { ephemeralContainers } };
    const options = { subresource: 'ephemeralcontainers' };
    const after = await plane.admin.patch(pods, key, { type: 'strategic', body }, options);
    expect(after.spec?.tolerations).toEqual(made.spec?.tolerations);
    expect(await replica.reviews('/mutate/pods')).toBe(before);
  });

  test('A6: and one that was not is not injected by a label that comes with its status', async () => {
    const key = { namespace: 'default', name: 'plain' };
    await plane.admin.create(pods, podWith({ name: 'plain' }));
    const body = { metadata: { labels: { [inject_]: 'true' } } };
    const options = { subresource: 'status' };
    const { spec } = await plane.admin.patch(pods, key, { type: 'merge', body }, options);
    expect(spec?.nodeSelector).toBeUndefined();
  });
});

test('B23: another webhook before and after ours that does the same changes nothing more', async () => {
  const ours = await plane.admin.get(mutatingWebhookConfigurations, { name });
  const { webhooks = [] } = ours;
  const copy = (of: string): WebhookConfiguration => ({ metadata: { name: of }, webhooks });
  for (const other of ['a-before', 'z-after']) {
    // oxlint-disable-next-line no-await-in-loop -- two small writes
    await plane.admin.create(mutatingWebhookConfigurations, copy(other));
  }
  const calls = await replica.reviews('/mutate/pods');
  await vi.waitFor(async () => {
    await tried(optedIn);
    expect(await replica.reviews('/mutate/pods')).toBeGreaterThan(calls + 3);
  }, within);
  const { spec } = await tried(optedIn);
  expect(spec?.tolerations?.filter(({ key }) => key === ukc.key)).toHaveLength(1);
  for (const other of ['a-before', 'z-after']) {
    await plane.admin.delete(mutatingWebhookConfigurations, { name: other }); // oxlint-disable-line no-await-in-loop
  }
});

describe('with nobody to answer, where the rules are what nothing gets past', () => {
  const elsewhere = (): NodePool => {
    const theirs = poolOf('theirs', 'spot');
    const nodeClassRef = { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' };
    theirs.spec.template.spec.nodeClassRef = nodeClassRef;
    return theirs;
  };

  beforeAll(async () => {
    await plane.admin.create(nodePools, poolOf('ours', 'on-demand'));
    const { webhooks = [] } = await plane.admin.get(validatingWebhookConfigurations, { name });
    const index = webhooks.findIndex((hook) => hook.name === 'rules.karpenter.unikraft.com');
    const body = [
      { op: 'replace', path: `/webhooks/${index}/failurePolicy`, value: 'Fail' },
    ] as const;
    await plane.admin.patch(validatingWebhookConfigurations, { name }, { type: 'json', body });
    await replica.stop();
  });

  test('a change of ours is refused', async () => {
    await vi.waitFor(async () => {
      await expect(merge('ours', { spec: { weight: 3 } })).rejects.toThrow(
        /failed calling webhook/,
      );
    }, within);
  });

  test('B18: pools of others, notes on ours, Pods, and deletions pass', async () => {
    await plane.admin.create(nodePools, elsewhere());
    await merge('ours', {
      metadata: { annotations: { note: 'x' }, finalizers: ['example.com/hold'] },
    });
    await merge('ours', { metadata: { finalizers: null } });
    expect((await tried(optedIn)).spec?.nodeSelector).toBeUndefined();
    await plane.admin.delete(nodePools, { name: 'theirs' });
  });

  test('B18: a replica comes back by itself: nothing that it needs goes through it', async () => {
    replica = await webhook.startReplica();
    const change = async () => merge('ours', { spec: { weight: 4 } });
    await vi.waitFor(
      async () => expect(await change()).toMatchObject({ spec: { weight: 4 } }),
      within,
    );
    await replica.stop();
  });

  test('B19: deleting the configurations is the way out', async () => {
    await plane.admin.delete(mutatingWebhookConfigurations, { name });
    await plane.admin.delete(validatingWebhookConfigurations, { name });
    const change = async () => merge('ours', { spec: { weight: 5 } });
    await vi.waitFor(
      async () => expect(await change()).toMatchObject({ spec: { weight: 5 } }),
      within,
    );
  });

  test('and the way back is to apply them again', async () => {
    replica = await webhook.startReplica();
    await webhook.apply(tools);
    await injects();
    expect(await replica.ready()).toMatch(/\nok\n$/);
  });

  test('B19: the namespace goes away with nobody left to answer', async () => {
    await replica.stop();
    await plane.admin.delete(mutatingWebhookConfigurations, { name });
    await plane.admin.delete(validatingWebhookConfigurations, { name });
    await plane.admin.delete(namespaces, { name });
    await vi.waitFor(async () => {
      await expect(plane.admin.get(namespaces, { name })).rejects.toMatchObject({ code: 404 });
    }, within);
  });
});
