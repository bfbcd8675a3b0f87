import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';

import { ControlPlane } from '#sandbox/control-plane/control-plane.ts';
import { render } from '#sandbox/manifests/render.ts';
import { Run } from '#sandbox/processes/run.ts';
import { nodeClaims, nodePools, type NodePool } from '#schemas/karpenter/types.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import type { KubeObject } from '#schemas/kubernetes/meta.ts';
import {
  namespaces,
  pods,
  resource,
  secrets,
  serviceAccounts,
} from '#schemas/kubernetes/resource.ts';
import { capacityType, claim, pool } from '#schemas/rules/samples.ts';
import { milliseconds, seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';
import {
  mutatingWebhookConfigurations,
  validatingWebhookConfigurations,
  type WebhookConfiguration,
} from '#webhook/certificate/ca-bundle.ts';

import { InstalledWebhook, kubectl, type Replica } from './installed-webhook.ts';
import { inject_, injectedToleration, others, podWith, selector, ukc } from './pods.ts';

/** The webhook as `kustomize/default` installs it, called by a real API server. */

const within = { timeout: 20_000, interval: 100 };

const tools = inject('tools');
const clock = new FakeClock({ real: Date.now });
let run: Run;
let plane: ControlPlane;
let webhook: InstalledWebhook;
let replica: Replica;
const withoutHooks = new Map<string, object>();

beforeAll(async () => {
  run = await Run.open('webhook-test');
  plane = await ControlPlane.start({ tools, run });
  for (const [why, pod] of others) {
    // oxlint-disable-next-line no-await-in-loop -- one small answer after the other
    withoutHooks.set(why, comparable(await tried(pod)));
  }
  webhook = await InstalledWebhook.install(plane, tools, clock);
  replica = await webhook.startReplica();
  await injects();
});

afterAll(async () => {
  await webhook?.stop();
  await plane?.stop();
  await run?.close();
});

/** What the server would store; nothing is written. */
async function tried(pod: Pod): Promise<Pod> {
  return plane.admin.create(pods, pod, { dryRun: true });
}

function comparable({ metadata, ...rest }: KubeObject): object {
  const { uid: _, creationTimestamp: __, managedFields: ___, ...meta } = metadata ?? {};
  return { ...rest, metadata: meta };
}

const isOurs = ({ key }: { key?: string }): boolean => key === ukc.key;

/** All of the spec that a Pod has beside what injection is about. */
function withoutBoth({ spec }: Pod): object {
  const { nodeSelector: _, tolerations = [], ...rest } = spec ?? { containers: [] };
  return { ...rest, tolerations: tolerations.filter((one) => !isOurs(one)) };
}

/** Resolves once Pods come back injected: hooks come into force a moment after they can be trusted. */
async function injects(): Promise<void> {
  await vi.waitFor(async () => {
    const { spec } = await tried(podWith({ labels: { [inject_]: 'true' } }));
    expect(spec?.nodeSelector).toEqual(selector);
  }, within);
}

/** One Pod after the other, and some more once it is over. */
async function makePods(over: () => boolean): Promise<Pod[]> {
  const made: Pod[] = [];
  for (let left = 5; left > 0; left -= over() ? 1 : 0) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    made.push(await tried(podWith({ labels: { [inject_]: 'true' } })));
  }
  return made;
}

function poolOf(name: string, requirements: Parameters<typeof pool>[0]): NodePool {
  const made = pool(requirements);
  return { ...made, metadata: { name } };
}

function elsewhere(made: NodePool): NodePool {
  const nodeClassRef = { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' };
  made.spec.template.spec.nodeClassRef = nodeClassRef;
  return made;
}

const spot = [capacityType('In', 'spot')];

describe('a Pod that opts in', () => {
  test.each([
    ['label', podWith({ labels: { [inject_]: 'true' } }), injectedToleration],
    ['toleration', podWith({}, { tolerations: [ukc] }), ukc],
    ['selector', podWith({}, { nodeSelector: selector }), injectedToleration],
  ])('by %s comes back with toleration and selector, and nothing else', async (_, pod, added) => {
    const answer = await tried(pod);
    expect(answer.spec?.nodeSelector).toEqual(selector);
    expect(answer.spec?.tolerations?.filter(isOurs)).toEqual([added]);

    const optedOut = { ...pod.metadata, labels: { [inject_]: 'false' } };
    const plain = await tried({ ...pod, metadata: optedOut });
    expect(withoutBoth(answer)).toEqual(withoutBoth(plain));
  });

  test('in a Deployment too, when the real controller makes it', async () => {
    const deployments = resource<KubeObject>('apps/v1', 'Deployment', 'deployments', 'Namespaced');
    const labels = { app: 'made', [inject_]: 'true' };
    const { spec } = podWith({});
    const deployment = {
      metadata: { namespace: 'default', name: 'made' },
      spec: {
        selector: { matchLabels: { app: 'made' } },
        template: { metadata: { labels }, spec },
      },
    };
    await plane.admin.create<KubeObject>(deployments, deployment);
    const made = await vi.waitFor(async () => {
      const found = await plane.admin.list(pods, {
        namespace: 'default',
        labelSelector: 'app=made',
      });
      expect(found.items).toHaveLength(1);
      return found.items;
    }, within);
    expect(made[0]?.spec?.nodeSelector).toEqual(selector);
    expect(made[0]?.spec?.tolerations).toContainEqual(injectedToleration);
  });

  test('and cannot go there is admitted, with a warning for who made it', async () => {
    const pod = podWith({ labels: { [inject_]: 'true' } }, { hostNetwork: true });
    const printed = await kubectl(plane, tools, ['create', '--dry-run=server', '-f', '-'], {
      apiVersion: 'v1',
      kind: 'Pod',
      ...pod,
    });
    expect(printed).toContain('Warning: not made fit for Unikraft nodes: spec.hostNetwork');
    expect(printed).toContain('pod/subject created');
  });
});

describe('a namespace that opts in', () => {
  const namespace = 'opted-in';

  beforeAll(async () => {
    const labels = { [inject_]: 'true' };
    await plane.admin.create(namespaces, { metadata: { name: namespace, labels } });
    await vi.waitFor(
      async () => plane.admin.get(serviceAccounts, { namespace, name: 'default' }),
      within,
    );
  });

  test('has its Pods come back with both, though they say nothing', async () => {
    const { spec } = await tried(podWith({ namespace }));
    expect(spec?.nodeSelector).toEqual(selector);
    expect(spec?.tolerations?.filter(isOurs)).toEqual([injectedToleration]);
  });

  test('and a Pod that opts in too comes back with each once', async () => {
    const { spec } = await tried(podWith({ namespace, labels: { [inject_]: 'true' } }));
    expect(spec?.nodeSelector).toEqual(selector);
    expect(spec?.tolerations?.filter(isOurs)).toEqual([injectedToleration]);
  });

  test('leaves alone a Pod that says "false", and is not even asked', async () => {
    const before = await replica.reviews('/mutate/pods-of-namespace');
    const { spec } = await tried(podWith({ namespace, labels: { [inject_]: 'false' } }));
    expect(spec?.nodeSelector).toBeUndefined();
    expect(await replica.reviews('/mutate/pods-of-namespace')).toBe(before);
  });

  test('and is the system’s, is left alone all the same', async () => {
    const label = async (value: string | null) =>
      plane.admin.patch(
        namespaces,
        { name: 'kube-system' },
        { type: 'merge', body: { metadata: { labels: { [inject_]: value } } } },
      );
    await label('true');
    const { spec } = await tried(podWith({ namespace: 'kube-system' }));
    await label(null);
    expect(spec?.nodeSelector).toBeUndefined();
  });
});

describe('a Pod comes back equal to the answer without any hook', () => {
  test.each(others)('when %s', async (why, pod) => {
    expect(comparable(await tried(pod))).toEqual(withoutHooks.get(why));
  });

  test('and for those that do not opt in the server is not even asked', async () => {
    const before = await replica.reviews('/mutate/pods');
    for (const [, pod] of others.slice(0, 6)) await tried(pod); // oxlint-disable-line no-await-in-loop
    expect(await replica.reviews('/mutate/pods')).toBe(before);
  });
});

describe('a NodePool that can only be spot', () => {
  test('is refused on apply, with place, reason, way out and code', async () => {
    const printed = await kubectl(plane, tools, ['apply', '-f', '-'], poolOf('batch', spot));
    expect(printed.trim()).toBe(
      'The NodePool "batch" is invalid: spec.template.spec.requirements[0]: Unikraft machines launch on demand only; ' +
        'this NodePool allows only spot or nothing, so it would never get one. ' +
        'Write it as operator In with the value "on-demand", or remove the requirement. (KPU101)',
    );
  });

  test('is refused when it is applied server-side, and by what it would become', async () => {
    const applied = plane.admin.patch(
      nodePools,
      { name: 'batch' },
      { type: 'apply', body: poolOf('batch', spot) },
    );
    await expect(applied).rejects.toMatchObject({ reason: 'Invalid', code: 422 });

    await plane.admin.create(nodePools, poolOf('good', [capacityType('In', 'spot', 'on-demand')]));
    const body = { spec: { template: { spec: { requirements: spot } } } };
    const changed = plane.admin.patch(nodePools, { name: 'good' }, { type: 'merge', body });
    await expect(changed).rejects.toMatchObject({
      reason: 'Invalid',
      details: { name: 'good', causes: [{ field: 'spec.template.spec.requirements[0]' }] },
    });
  });

  test('as NodeClaim is refused as well', async () => {
    const made = plane.admin.create(nodeClaims, claim(spot));
    await expect(made).rejects.toThrow(/spec\.requirements\[0\]: .*KPU101/);
  });

  test("of another provider passes, and never reaches the server; nor do that provider's claims", async () => {
    const before = await replica.reviews('/validate');
    const theirs = claim(spot);
    theirs.metadata = { name: 'theirs' };
    theirs.spec.nodeClassRef = {
      group: 'karpenter.k8s.aws',
      kind: 'EC2NodeClass',
      name: 'default',
    };
    await plane.admin.create(nodePools, elsewhere(poolOf('theirs', spot)));
    await plane.admin.create(nodeClaims, theirs);
    expect(await replica.reviews('/validate')).toBe(before);

    await plane.admin.create(nodePools, poolOf('ours', []));
    expect(await replica.reviews('/validate')).toBe(before + 1);
  });
});

describe('the installation', () => {
  const configurations = [mutatingWebhookConfigurations, validatingWebhookConfigurations];
  const read = async () =>
    Promise.all(
      configurations.map((kind) => plane.admin.get(kind, { name: 'karpenter-unikraft' })),
    );
  const bundles = (found: WebhookConfiguration[]) =>
    found.flatMap(({ webhooks = [] }) => webhooks.map(({ clientConfig }) => clientConfig.caBundle));

  test('is ready, and says what it has looked at', async () => {
    expect(await replica.ready()).toMatch(/\[\+\] tls: ok\n\[\+\] trust: ok\nok\n$/);
  });

  test('reads back as it stands in Git, so that no tool sees a difference', async () => {
    const manifests = await render(tools.kubectl, 'kustomize/webhook');
    const wanted = manifests.filter(({ kind }) => kind.endsWith('WebhookConfiguration'));
    const stored = await Promise.all(
      wanted.map(async (manifest) => {
        const kind = configurations.find((one) => one.kind === manifest.kind);
        const body = { ...manifest, metadata: { ...manifest.metadata, name: 'read-back' } };
        return (
          kind && plane.admin.patch(kind, body.metadata, { type: 'apply', body }, { dryRun: true })
        );
      }),
    );
    const hooksOf = (object?: WebhookConfiguration) => object?.webhooks;
    expect(stored.map(hooksOf)).toEqual(wanted.map(hooksOf));
    expect(wanted.flatMap(hooksOf)).toHaveLength(5);
  });

  test('shows in managedFields who applied it, and who wrote the bundle and nothing else', async () => {
    for (const { metadata } of await read()) {
      const managed = metadata.managedFields as { manager: string; fieldsV1: object }[];
      const managers = managed.map(({ manager }) => manager);
      expect(managers).toEqual(['sandbox', 'karpenter-unikraft-ca-bundle']);
      const [, bundle] = managed.map(({ fieldsV1 }) => JSON.stringify(fieldsV1));
      expect(new Set(bundle?.match(/"f:\w+":\{\}/g))).toEqual(new Set(['"f:caBundle":{}']));
    }
  });

  test('keeps the bundle when a Git tool applies it again', async () => {
    const before = bundles(await read());
    await webhook.apply(tools);
    expect(bundles(await read())).toEqual(before);
    expect(before.every(Boolean)).toBe(true);
  });

  test('gets the bundle back when somebody takes it out', async () => {
    const before = bundles(await read());
    const body = [{ op: 'remove', path: '/webhooks/0/clientConfig/caBundle' }] as const;
    for (const kind of configurations) {
      // oxlint-disable-next-line no-await-in-loop -- two small writes
      await plane.admin.patch(kind, { name: 'karpenter-unikraft' }, { type: 'json', body });
    }
    await clock.forward(seconds(15));
    await vi.waitFor(async () => expect(bundles(await read())).toEqual(before), within);
    await injects();
  });

  test('loses no Pod when a replica ends while Pods are made', async () => {
    const second = await webhook.startReplica();
    await vi.waitFor(async () => expect(await second.ready()).toMatch(/\nok\n$/), within);
    const ending = { over: false };
    const first = replica;
    replica = second;
    const leaving = clock
      .sleep(milliseconds(200))
      .then(async () => first.stop())
      .then(() => (ending.over = true));
    const made = await Promise.all(
      Array.from({ length: 4 }, async () => makePods(() => ending.over)),
    );
    await leaving;
    expect(made.flat().length).toBeGreaterThan(20);
    expect(made.flat().filter(({ spec }) => !spec?.nodeSelector)).toEqual([]);
    expect(await second.reviews('/mutate/pods')).toBeGreaterThan(0);
  });

  test('has a second replica work with the same authority, and gets its Secret back', async () => {
    const key = { namespace: 'karpenter-unikraft', name: 'karpenter-unikraft-webhook-ca' };
    const { data } = await plane.admin.get(secrets, key);
    await plane.admin.delete(secrets, key);
    await vi.waitFor(async () => {
      expect((await plane.admin.get(secrets, key)).data).toEqual(data);
    }, within);

    const second = await webhook.startReplica();
    await vi.waitFor(async () => expect(await second.ready()).toMatch(/\nok\n$/), within);
    await replica.stop();
    await injects();
    replica = second;
  });
});

describe('with the webhook down', () => {
  beforeAll(async () => {
    await replica.stop();
  });

  test('Pods are admitted as they are', async () => {
    const { spec } = await tried(podWith({ labels: { [inject_]: 'true' } }));
    expect(spec?.nodeSelector).toBeUndefined();
  });

  test('a NodePool that can only be spot is admitted, and is the controller’s to refuse', async () => {
    const made = await plane.admin.create(nodePools, poolOf('slipped', spot));
    expect(made.metadata.uid).toBeTruthy();
  });

  test('it serves again once it is back, and lets what slipped through be labelled and deleted', async () => {
    replica = await webhook.startReplica();
    await injects();
    const before = await replica.reviews('/validate');
    const body = { metadata: { labels: { seen: 'yes' } } };
    await plane.admin.patch(nodePools, { name: 'slipped' }, { type: 'merge', body });
    expect(await replica.reviews('/validate')).toBe(before); // the spec is as it was
    await plane.admin.delete(nodePools, { name: 'slipped' });
  });
});

test('no condition of the hooks ever stumbled, on any object of these tests', async () => {
  const metrics = await kubectl(plane, tools, ['get', '--raw', '/metrics']);
  const ours = metrics.split('\n').filter((line) => line.includes('karpenter.unikraft.com"'));
  const about = (series: string) => ours.filter((line) => line.startsWith(series));
  expect(about('apiserver_admission_match_condition_exclusions_total')).not.toEqual([]);
  expect(about('apiserver_admission_match_condition_evaluation_errors_total')).toEqual([]);
});
