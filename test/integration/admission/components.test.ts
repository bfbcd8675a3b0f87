import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';

import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';

import { render, type Manifest } from '#sandbox/manifests/render.ts';

/** What stands in the installation with each component, as `kubectl kustomize` makes it. */

const { kubectl } = inject('tools');
const root = resolve('kustomize');
let folder: string;
let usual: Manifest[];

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'components-')));
  usual = await render(kubectl, 'kustomize/default');
});

afterAll(async () => rm(folder, { recursive: true, force: true }));

async function installation(...components: string[]): Promise<Manifest[]> {
  const to = (path: string): string => relative(folder, join(root, path));
  const kustomization = {
    resources: [to('default')],
    components: components.map((name) => to(`components/${name}`)),
  };
  await writeFile(join(folder, 'kustomization.yaml'), JSON.stringify(kustomization));
  return render(kubectl, folder);
}

const named = ({ kind, metadata }: Manifest): string => `${kind} ${metadata.name}`;
const isPolicy = ({ kind }: Manifest): boolean => kind.startsWith('ValidatingAdmissionPolicy');
const isHook = ({ kind }: Manifest): boolean => kind.endsWith('WebhookConfiguration');

function without(all: readonly Manifest[], others: readonly Manifest[]): string[] {
  const known = new Set(others.map(named));
  return all.map(named).filter((name) => !known.has(name));
}

/** Failure policies by the name of each hook. */
function failurePolicies(all: readonly Manifest[]): Record<string, string> {
  const hooks = all.filter(isHook).flatMap((one) => (one as unknown as Hooks).webhooks);
  return Object.fromEntries(hooks.map(({ name, failurePolicy }) => [name, failurePolicy]));
}

interface Hooks {
  webhooks: { name: string; failurePolicy: string }[];
}

describe('the usual installation', () => {
  test('has policies that refuse, and a webhook that nothing waits for', () => {
    const policies = usual.filter(isPolicy).map(named);
    expect(policies.length).toBeGreaterThan(4);
    expect(policies.filter((name) => !name.endsWith('-deny'))).toEqual([]);
    expect(new Set(Object.values(failurePolicies(usual)))).toEqual(new Set(['Ignore']));
  });
});

describe('policies only', () => {
  test('takes away all of the webhook and nothing else, and adds policies that warn', async () => {
    const all = await installation('policies-only');
    const gone = without(usual, all);
    expect(gone.filter((name) => !/ karpenter-unikraft(-webhook.*)?$/.test(name))).toEqual([]);
    expect(gone).toContain('ServiceAccount karpenter-unikraft-webhook');
    expect(gone).toContain('ClusterRole karpenter-unikraft-webhook');
    expect(gone).toContain('Deployment karpenter-unikraft-webhook');
    expect(gone).not.toContain('Namespace karpenter-unikraft');
    expect(all.filter(isHook)).toEqual([]);
    expect(JSON.stringify(all)).not.toContain('karpenter-unikraft-webhook');
    const added = without(all, usual);
    expect(added.length).toBeGreaterThan(4);
    expect(added.filter((name) => !/^ValidatingAdmissionPolicy.*-warn$/.test(name))).toEqual([]);
  });

  test('has a policy for each Pod to be made fit, where asked for', async () => {
    const added = without(await installation('policies-only', 'mutating-policy'), usual);
    expect(added.filter((name) => name.startsWith('Mutating'))).toEqual([
      'MutatingAdmissionPolicy karpenter-unikraft-pods',
      'MutatingAdmissionPolicy karpenter-unikraft-pods-of-namespace',
      'MutatingAdmissionPolicyBinding karpenter-unikraft-pods',
      'MutatingAdmissionPolicyBinding karpenter-unikraft-pods-of-namespace',
    ]);
  });
});

describe('webhook only', () => {
  test('takes away the policies and nothing else, and lets only pools and claims wait', async () => {
    const all = await installation('webhook-only');
    expect(without(usual, all)).toEqual(usual.filter(isPolicy).map(named));
    expect(without(all, usual)).toEqual([]);
    const failing = Object.entries(failurePolicies(all)).filter(([, policy]) => policy === 'Fail');
    expect(failing.map(([name]) => name)).toEqual(['rules.karpenter.unikraft.com']);
    expect(failurePolicies(all)).toEqual({
      ...failurePolicies(usual),
      'rules.karpenter.unikraft.com': 'Fail',
    });
  });

  test('keeps ceilings, which are policies of their own', async () => {
    const all = await installation('webhook-only', 'quota-policies');
    expect(all.filter(isPolicy).map(named)).toEqual(
      (await installation('quota-policies'))
        .filter(isPolicy)
        .map(named)
        .filter((name) => name.includes('-quota-')),
    );
  });
});

test('bootstrap opens one port of the controller, and one way to it', async () => {
  const all = await installation('bootstrap');
  expect(without(all, usual).toSorted()).toEqual([
    'NetworkPolicy karpenter-unikraft-controller',
    'Service karpenter-unikraft-bootstrap',
  ]);
  const controller = all.find((one) => named(one) === 'Deployment karpenter-unikraft-controller');
  const text = JSON.stringify(controller);
  expect(text).toContain('{"name":"BOOTSTRAP_PORT","value":"8443"}');
  expect(text).toContain('{"containerPort":8443,"name":"bootstrap"}');
  const before = usual.find((one) => named(one) === 'Deployment karpenter-unikraft-controller');
  expect(JSON.stringify(before)).not.toMatch(/bootstrap/i);
});
