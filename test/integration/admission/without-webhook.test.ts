import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';

import { ControlPlane } from '#sandbox/control-plane/control-plane.ts';
import { applyAll, deleteAll } from '#sandbox/manifests/apply.ts';
import { render } from '#sandbox/manifests/render.ts';
import { Run } from '#sandbox/processes/run.ts';
import { install } from '#sandbox/world/installation.ts';
import {
  nodeClaims,
  nodePools,
  type NodePool,
  type Requirement,
} from '#schemas/karpenter/types.ts';
import { pods } from '#schemas/kubernetes/resource.ts';
import { unikraftNodeClasses } from '#schemas/nodeclass/types.ts';
import { capacityType, claim, container, nodeClass, pod, pool } from '#schemas/rules/samples.ts';
import { neighboursClaim, neighboursPool, neighboursStatus } from '#test/world/neighbours.ts';

import { kubectl } from '../webhook/installed-webhook.ts';
import { inject_, podWith } from '../webhook/pods.ts';
import { untilPassed, untilRefused } from './in-force.ts';

/** `kustomize/default` with all Pods of the webhook gone: what must hold holds, and nothing waits for it. */

const tools = inject('tools');
let run: Run;
let plane: ControlPlane;

beforeAll(async () => {
  run = await Run.open('without-webhook-test');
  plane = await ControlPlane.start({ tools, run, audit: false });
  await install(plane.admin, tools, { webhookPort: 9, processes: false }); // nobody is there
  await untilRefused(async () => planned(spot('batch')));
  await untilRefused(async () => plane.admin.create(nodeClaims, claim(onlySpot), { dryRun: true }));
  await untilRefused(async () => tried(pod({ nodeSelector: windows })));
});

afterAll(async () => {
  await plane?.stop();
  await run?.close();
});

const onlySpot = [capacityType('In', 'spot')];
const windows = { 'kubernetes.io/os': 'windows' };

function spot(name: string): NodePool {
  return { ...pool(onlySpot), metadata: { name } };
}

async function made(object: NodePool): Promise<NodePool> {
  return plane.admin.create(nodePools, object);
}

async function planned(object: NodePool): Promise<NodePool> {
  return plane.admin.create(nodePools, object, { dryRun: true });
}

async function tried(object: ReturnType<typeof pod>): Promise<ReturnType<typeof pod>> {
  return plane.admin.create(pods, object, { dryRun: true });
}

describe('spot is refused', () => {
  test('in the same words as ever', async () => {
    const printed = await kubectl(plane, tools, ['apply', '-f', '-'], spot('batch'));
    expect(printed).toContain(
      'spec.template.spec.requirements[0]: Unikraft machines launch on demand only; this NodePool allows only spot or ' +
        'nothing, so it would never get one. Write it as operator In with the value "on-demand", or remove the requirement. (KPU101)',
    );
    expect(printed).toContain('is invalid');
  });

  test('in every spelling', async () => {
    const spellings: Requirement[][] = [
      onlySpot,
      [capacityType('NotIn', 'on-demand')],
      [capacityType('DoesNotExist')],
      [capacityType('Exists'), capacityType('In', 'spot')],
    ];
    for (const requirements of spellings) {
      const pools = planned(pool(requirements));
      // oxlint-disable-next-line no-await-in-loop -- a few
      await expect(pools).rejects.toMatchObject({ code: 422, reason: 'Invalid' });
      const claims = plane.admin.create(nodeClaims, claim(requirements), { dryRun: true });
      // oxlint-disable-next-line no-await-in-loop -- as above
      await expect(claims).rejects.toMatchObject({ code: 422, reason: 'Invalid' });
    }
    const labelled = pool([], { 'karpenter.sh/capacity-type': 'spot' });
    await expect(made(labelled)).rejects.toThrow(/spec\.template\.metadata\.labels: .*KPU101/);
  });

  test('when a good pool becomes one, by patch and by apply', async () => {
    await made({ ...pool([]), metadata: { name: 'good' } });
    const key = { name: 'good' };
    const body = { spec: { template: { spec: { requirements: onlySpot } } } };
    const patched = plane.admin.patch(nodePools, key, { type: 'merge', body });
    await expect(patched).rejects.toThrow(/KPU101/);
    const apply = { type: 'apply', body: spot('good'), force: true } as const;
    await expect(plane.admin.patch(nodePools, key, apply)).rejects.toThrow(/KPU101/);
  });

  test('and mixed with on-demand it passes', async () => {
    const mixed = pool([capacityType('In', 'spot', 'on-demand')]);
    await expect(planned(mixed)).resolves.toBeTruthy();
  });
});

test('rules of node classes hold', async () => {
  const bad = nodeClass({ image: {} });
  const refused = plane.admin.create(unikraftNodeClasses, bad, { dryRun: true });
  await expect(refused).rejects.toThrow(/spec\.image: .*KPU111/);
  const good = plane.admin.create(unikraftNodeClasses, nodeClass(), { dryRun: true });
  await expect(good).resolves.toBeTruthy();
});

describe('Pods are admitted', () => {
  test('as they are, whether they opt in or not', async () => {
    const { spec } = await tried(podWith({ labels: { [inject_]: 'true' } }));
    expect(spec?.nodeSelector).toBeUndefined();
    await expect(tried(pod())).resolves.toBeTruthy();
    await expect(tried(podWith({}))).resolves.toBeTruthy();
  });

  test('even with what will not work there; what can never run is refused by a policy', async () => {
    const probed = container({ livenessProbe: { tcpSocket: { port: 80 } } });
    await expect(tried(pod({ containers: [probed], hostPID: true }))).resolves.toBeTruthy();
    await expect(tried(pod({ nodeSelector: windows }))).rejects.toThrow(
      /spec\.nodeSelector: .*KPU140/,
    );
  });

  test('in the system’s own namespaces whatever they are', async () => {
    const odd = pod({ nodeSelector: windows }, { namespace: 'kube-system' });
    await expect(tried(odd)).resolves.toBeTruthy();
  });
});

describe('what belongs to another provider passes', () => {
  test('made, changed, finished and deleted, whatever it asks for', async () => {
    const theirs = neighboursPool();
    theirs.spec.template.spec.requirements = onlySpot;
    await made(theirs);
    const key = { name: 'aws' };
    const changed = { spec: { template: { spec: { expireAfter: '0s' } } } };
    await plane.admin.patch(nodePools, key, { type: 'merge', body: changed });
    const status = { status: neighboursStatus(new Date().toISOString()) };
    await plane.admin.create(nodeClaims, neighboursClaim('theirs'));
    const claimed = { name: 'theirs' };
    const patch = { type: 'merge', body: status } as const;
    await plane.admin.patch(nodeClaims, claimed, patch, { subresource: 'status' });
    const finalizers = { type: 'merge', body: { metadata: { finalizers: null } } } as const;
    await plane.admin.patch(nodeClaims, claimed, finalizers);
    await plane.admin.delete(nodeClaims, claimed);
    await plane.admin.delete(nodePools, key);
    expect((await plane.admin.list(nodeClaims)).items).toEqual([]);
  });

  test('with no policy of ours in the cluster, too, as everything does', async () => {
    const policies = await render(tools.kubectl, 'kustomize/policies');
    await deleteAll(plane.admin, policies);
    await untilPassed(async () => planned(spot('late')));
    await expect(planned(neighboursPool())).resolves.toBeTruthy();
    const deny = await render(tools.kubectl, 'kustomize/policies/deny');
    await applyAll(plane.admin, deny);
    await untilRefused(async () => planned(spot('late')));
  });
});

describe('a pool as large as pools get', () => {
  const values = (count: number): string[] =>
    Array.from({ length: count }, (_, i) => `m${i}.large`);

  test('is judged within what a policy may cost', async () => {
    const requirements: Requirement[] = [
      { key: 'node.kubernetes.io/instance-type', operator: 'In', values: values(700) },
      { key: 'node.kubernetes.io/instance-type', operator: 'NotIn', values: values(100) },
      ...Array.from({ length: 90 }, (_, index): Requirement => ({
        key: `example.com/key-${index}`,
        operator: 'In',
        values: values(20),
      })),
    ];
    const labels = Object.fromEntries(
      Array.from({ length: 50 }, (_, index) => [`example.com/label-${index}`, 'a']),
    );
    const large = pool(requirements, labels);
    await expect(planned(large)).resolves.toBeTruthy();
    const bad = pool([...requirements, ...onlySpot], labels);
    await expect(planned(bad)).rejects.toThrow(/requirements\[92\]: .*KPU101/);
  });
});

test('deleting is never in the way of anything', async () => {
  const bindings = (await render(tools.kubectl, 'kustomize/policies/deny')).filter(({ kind }) =>
    kind.endsWith('Binding'),
  );
  await deleteAll(plane.admin, bindings); // the way out, when a rule is wrong
  await untilPassed(async () => made(spot('slipped')));
  await applyAll(plane.admin, bindings);
  await untilRefused(async () => planned(spot('later')));
  await plane.admin.delete(nodePools, { name: 'slipped' });
  const { items } = await plane.admin.list(nodePools);
  expect(items.map(({ metadata }) => metadata.name)).not.toContain('slipped');
});

test('policies match no deletion, no subresource but those of Pods, and have no parameters', async () => {
  const policies = (await render(tools.kubectl, 'kustomize/policies')).filter(
    ({ kind }) => kind === 'ValidatingAdmissionPolicy',
  ) as unknown as Policy[];
  const matched = policies.flatMap(({ spec }) => spec.matchConstraints.resourceRules);
  expect(new Set(matched.flatMap(({ operations }) => operations))).toEqual(
    new Set(['CREATE', 'UPDATE']),
  );
  const resources = new Set(matched.flatMap((rule) => rule.resources));
  expect([...resources].filter((one) => one.includes('/')).toSorted()).toEqual([
    'pods/ephemeralcontainers',
    'pods/resize',
  ]);
  expect(policies.filter(({ spec }) => spec.paramKind)).toEqual([]);
});

interface Policy {
  spec: {
    paramKind?: object;
    matchConstraints: { resourceRules: { operations: string[]; resources: string[] }[] };
  };
}
