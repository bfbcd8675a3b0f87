import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';

import { ControlPlane } from '#sandbox/control-plane/control-plane.ts';
import { applyAll } from '#sandbox/manifests/apply.ts';
import { render } from '#sandbox/manifests/render.ts';
import { Run } from '#sandbox/processes/run.ts';
import { nodeClaims, nodePools } from '#schemas/karpenter/types.ts';
import type { KubeObject } from '#schemas/kubernetes/meta.ts';
import { resource } from '#schemas/kubernetes/resource.ts';
import { labels } from '#schemas/names.ts';
import { unikraftNodeClasses } from '#schemas/nodeclass/types.ts';
import { claim, nodeClass, pool } from '#schemas/rules/samples.ts';
import { seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { InstalledWebhook, kubectl, type Replica } from './installed-webhook.ts';

/** The webhook counts machines by a right of its own, and does everything else without it. */

const within = { timeout: 20_000, interval: 250 };

const tools = inject('tools');
const clock = new FakeClock({ real: Date.now });
const right = { name: 'karpenter-unikraft-webhook-machines' };
const clusterRoleBindings = resource<KubeObject>(
  'rbac.authorization.k8s.io/v1',
  'ClusterRoleBinding',
  'clusterrolebindings',
  'Cluster',
);
let run: Run;
let plane: ControlPlane;
let webhook: InstalledWebhook;
let replica: Replica;

beforeAll(async () => {
  run = await Run.open('machine-counts-test');
  plane = await ControlPlane.start({ tools, run, audit: false });
  webhook = await InstalledWebhook.install(plane, tools, clock);
  await plane.admin.delete(clusterRoleBindings, right);
  const metadata = { name: 'default' };
  await plane.admin.create(unikraftNodeClasses, { ...nodeClass(), metadata });
  await plane.admin.create(nodePools, { ...pool([]), metadata: { name: 'web' } });
  for (const name of ['web-1', 'web-2']) {
    const own = { [labels.nodePool]: 'web', [labels.nodeClass]: 'default' };
    // oxlint-disable-next-line no-await-in-loop -- two small writes
    await plane.admin.create(nodeClaims, { ...claim([]), metadata: { name, labels: own } });
  }
  replica = await webhook.startReplica();
});

afterAll(async () => {
  await webhook?.stop();
  await plane?.stop();
  await run?.close();
});

/** What kubectl prints of a change; nothing is written. */
async function changing(kind: string, name: string, spec: object): Promise<string> {
  const patch = JSON.stringify({ spec });
  const args = ['patch', kind, name, '--type=merge', '--dry-run=server', '-p', patch];
  return kubectl(plane, tools, args);
}

const changeClass = async (): Promise<string> =>
  changing('unikraftnodeclass', 'default', { tags: { team: 'a' } });
const changePool = async (): Promise<string> =>
  changing('nodepool', 'web', { template: { metadata: { labels: { team: 'a' } } } });

const plain = 'This change replaces machines made before it, as they expire or are deleted.';

test('without the right to see them it is ready, and warns without their number', async () => {
  await vi.waitFor(async () => expect(await replica.ready()).toMatch(/\nok\n$/), within);
  await vi.waitFor(
    async () => expect(await changeClass()).toContain(`Warning: KPU124 spec: ${plain}`),
    within,
  );
  expect(await changePool()).toContain(plain);
});

test('with it, an edit of the node class says how many machines of which pool it replaces', async () => {
  const rbac = await render(tools.kubectl, 'kustomize/rbac');
  await applyAll(
    plane.admin,
    rbac.filter(({ metadata }) => metadata?.name === right.name),
  );
  await vi.waitFor(async () => {
    await clock.forward(seconds(15));
    const counted =
      'Warning: KPU124 spec: This change replaces 2 machines in pool web as they expire or are deleted.';
    expect(await changeClass()).toContain(counted);
  }, within);
  expect(await changePool()).toContain(
    'This change replaces 2 machines in pool web as they expire or are deleted.',
  );
});

test('and nothing is said once they have gone', async () => {
  await plane.admin.delete(nodeClaims, { name: 'web-1' });
  await plane.admin.delete(nodeClaims, { name: 'web-2' });
  await vi.waitFor(async () => expect(await changeClass()).not.toContain('KPU124'), within);
});
