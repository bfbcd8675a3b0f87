import { execFile } from 'node:child_process';

import { afterAll, beforeAll, beforeEach, describe, expect, inject, test, vi } from 'vitest';

import { ControlPlane } from '#sandbox/control-plane/control-plane.ts';
import { applyAll, deleteAll } from '#sandbox/manifests/apply.ts';
import { type Manifest, readManifests, render } from '#sandbox/manifests/render.ts';
import { Run } from '#sandbox/processes/run.ts';
import { nodePools, type NodePool } from '#schemas/karpenter/types.ts';
import type { KubeObject } from '#schemas/kubernetes/meta.ts';
import { resource } from '#schemas/kubernetes/resource.ts';
import { enforcements, quotaPolicyName } from '#schemas/quotapolicy/admission.ts';
import { quotaPolicy } from '#schemas/quotapolicy/samples.ts';
import { unikraftQuotaPolicies, type UnikraftQuotaPolicySpec } from '#schemas/quotapolicy/types.ts';
import { nodeClass, pool } from '#schemas/rules/samples.ts';

/** The component as it is applied, judged by the API server itself, as a person with kubectl sees it. */

const component = 'kustomize/components/quota-policies/policies.yaml';

const policies = resource<KubeObject & { status?: object }>(
  'admissionregistration.k8s.io/v1',
  'ValidatingAdmissionPolicy',
  'validatingadmissionpolicies',
  'Cluster',
);

let run: Run;
let plane: ControlPlane;

beforeAll(async () => {
  run = await Run.open('quota-policies-test');
  plane = await ControlPlane.start({ tools: inject('tools'), run });
  await applyAll(plane.admin, await readManifests(inject('tools').karpenterCrds));
  await applyAll(plane.admin, await render(inject('tools').kubectl, 'kustomize/crd'));
  await applyAll(plane.admin, await readManifests([component]));
  await inForce({ enforcement: 'Deny' }, /KPU170/);
});

afterAll(async () => {
  await plane?.stop();
  await run?.close();
});

beforeEach(async () => {
  const { items } = await plane.admin.list(unikraftQuotaPolicies);
  await deleteAll(plane.admin, items as Manifest[]);
});

const ceilings = {
  perMachine: { vcpus: 32, memory: '64Gi' },
  perNodePool: { cpu: 256, nodes: 20 },
};

interface Answer {
  readonly ok: boolean;
  /** Warnings and errors. */
  readonly said: string;
}

/** `kubectl --dry-run=server`: everything but the storing. */
async function tried(object: KubeObject, verb: 'create' | 'apply' = 'create'): Promise<Answer> {
  const args = [verb, '--dry-run=server', '--kubeconfig', plane.kubeconfig, '-f', '-'];
  if (verb === 'apply') args.push('--server-side', '--force-conflicts');
  return new Promise((resolve) => {
    const child = execFile(inject('tools').kubectl, args, (error, _, stderr) =>
      resolve({ ok: error === null, said: stderr }),
    );
    child.stdin?.end(JSON.stringify(object));
  });
}

function limited(limits: Record<string, string> | undefined, labels = { team: 'shop' }): NodePool {
  const made = pool([]);
  const { limits: _, ...spec } = made.spec;
  return {
    ...made,
    metadata: { name: 'web', labels },
    spec: { ...spec, ...(limits && { limits }) },
  };
}

function machineOf(capacity: object, name = 'default'): KubeObject {
  const made = nodeClass({ platform: { capacity } });
  return { ...made, metadata: { name } };
}

/** Applies a policy, and waits until the API server goes by it, which takes a moment. */
async function inForce(changes: Partial<UnikraftQuotaPolicySpec>, says: RegExp): Promise<void> {
  const policy = quotaPolicy({ ceilings, ...changes });
  await applyAll(plane.admin, [policy as Manifest]);
  await vi.waitFor(
    async () => expect((await tried(limited({ cpu: '1000', nodes: '5' }))).said).toMatch(says),
    { timeout: 30_000, interval: 250 },
  );
}

describe('a value above a ceiling', () => {
  test('is refused by Deny, with the place, the value and the ceiling', async () => {
    await inForce({ enforcement: 'Deny' }, /KPU170/);

    const { ok, said } = await tried(limited({ cpu: '1000', nodes: '5' }));

    expect(ok).toBe(false);
    expect(said).toContain(
      'spec.limits.cpu: 1000 is more than the 256 that UnikraftQuotaPolicy team-shop allows a NodePool; lower it, or have the policy raised (KPU170)',
    );
    expect(said).not.toContain('spec.limits.nodes');
  });

  test.each([
    ['Cap', /256 is used \(KPU171\)/],
    ['Warn', /it is only told \(KPU172\)/],
  ] as const)('is let through by %s, with a warning', async (enforcement, says) => {
    await inForce({ enforcement }, says);

    const { ok, said } = await tried(limited({ cpu: '1000', nodes: '5' }));

    expect(ok).toBe(true);
    expect(said).toMatch(/^Warning: .*spec\.limits\.cpu: 1000 is more than the 256 that/m);
  });

  test('is let through in silence by Audit, and stands in the audit log', async () => {
    const policy = quotaPolicy({ ceilings, enforcement: 'Audit' });
    await applyAll(plane.admin, [policy as Manifest]);
    const key = 'validation.policy.admission.k8s.io/validation_failure';

    const note = await vi.waitFor(
      async () => {
        const answer = await tried(limited({ cpu: '1000', nodes: '5' }));
        expect(answer).toEqual({ ok: true, said: '' });
        const [found] = (await plane.audit())
          .flatMap(({ annotations }) => annotations[key] ?? [])
          .filter((text) => text.includes(quotaPolicyName('Audit')));
        if (!found) throw new Error('no note yet');
        return found;
      },
      { timeout: 30_000, interval: 250 },
    );

    expect(note).toContain('spec.limits.cpu: 1000 is more than the 256 that');
    expect(note).toContain('(KPU172)');
  });

  test('in whatever spelling: quantities are compared, not texts', async () => {
    await inForce({ enforcement: 'Deny' }, /KPU170/);
    for (const cpu of ['256', '256000m', '0.256k']) {
      expect(await tried(limited({ cpu, nodes: '20' }))).toEqual({ ok: true, said: '' });
    }
    for (const cpu of ['256001m', '1k', '3e2']) {
      expect((await tried(limited({ cpu, nodes: '20' }))).ok).toBe(false);
    }
  });

  test('is also none at all where a pool has a ceiling', async () => {
    await inForce({ enforcement: 'Deny' }, /KPU170/);
    const { ok, said } = await tried(limited(undefined));
    expect(ok).toBe(false);
    expect(said).toContain('spec.limits.cpu: no limit is more than the 256 that');
    const nodes = await tried(limited({ cpu: '1' })); // the API server tells one of several refusals
    expect(nodes.said).toContain('spec.limits.nodes: no limit is more than the 20 that');
  });
});

describe('a node class', () => {
  const ofClasses: Partial<UnikraftQuotaPolicySpec> = {
    selector: { nodeClasses: ['default'] },
    enforcement: 'Deny',
  };
  const everybody = limited({ cpu: '1000', nodes: '5' });

  test('may state no more for each machine than the ceiling; percentages depend on the machine', async () => {
    await inForce(ofClasses, /KPU170/);

    const { ok, said } = await tried(machineOf({ vcpus: 64, instances: 9000 }));

    expect(ok).toBe(false);
    expect(said).toContain(
      'spec.platform.capacity.vcpus: 64 is more than the 32 that UnikraftQuotaPolicy team-shop allows a machine',
    );
    expect((await tried(machineOf({ memory: '65537Mi' }))).said).toContain(
      'spec.platform.capacity.memory: 65537Mi is more than the 64Gi that',
    );
    expect((await tried(machineOf({ vcpus: '400%', memory: '64Gi' }))).ok).toBe(true);
    expect((await tried(machineOf({ vcpus: 64 }, 'other'))).ok).toBe(true);
    expect((await tried(everybody)).ok).toBe(false);
  });

  test('is left to the controller by a policy that selects pools', async () => {
    await inForce({ enforcement: 'Deny' }, /KPU170/);
    expect((await tried(machineOf({ vcpus: 64 }))).ok).toBe(true);
  });
});

describe('what a policy does not mean passes', () => {
  beforeEach(async () => inForce({ enforcement: 'Deny' }, /KPU170/));

  test('pools with other labels, and pools of another provider', async () => {
    expect((await tried(limited({ cpu: '1000' }, { team: 'other' }))).ok).toBe(true);
    const theirs = limited({ cpu: '1000' });
    theirs.spec.template.spec.nodeClassRef = {
      group: 'karpenter.k8s.aws',
      kind: 'EC2NodeClass',
      name: 'default',
    };
    expect(await tried(theirs)).toEqual({ ok: true, said: '' });
  });

  test('pools by name, and only these', async () => {
    await inForce({ enforcement: 'Deny', selector: { nodePools: { names: ['web'] } } }, /KPU170/);
    const batch = limited({ cpu: '1000' }, { team: 'shop' });
    batch.metadata = { ...batch.metadata, name: 'batch' };
    expect((await tried(batch)).ok).toBe(true);
  });
});

describe('an update', () => {
  test('of anything else passes on a pool that was above the ceiling before there was one', async () => {
    const stored = limited({ cpu: '1000', nodes: '5' });
    await applyAll(plane.admin, [stored as Manifest]);
    await inForce({ enforcement: 'Deny' }, /KPU170/);

    const marked = { ...stored, metadata: { ...stored.metadata, annotations: { a: 'b' } } };
    const heavier = { ...stored, spec: { ...stored.spec, weight: 10 } };
    const more = { ...stored, spec: { ...stored.spec, limits: { cpu: '1001', nodes: '5' } } };

    expect((await tried(marked, 'apply')).ok).toBe(true);
    expect((await tried(heavier, 'apply')).ok).toBe(true);
    expect((await tried(more, 'apply')).said).toContain('spec.limits.cpu: 1001 is more than');
    expect((await plane.admin.get(nodePools, { name: 'web' })).spec.limits?.['cpu']).toBe('1000');
    await plane.admin.delete(nodePools, { name: 'web' });
  });
});

describe('with nothing to go by', () => {
  test('everything passes without a policy', async () => {
    await vi.waitFor(
      async () => expect(await tried(limited({ cpu: '1000' }))).toEqual({ ok: true, said: '' }),
      { timeout: 30_000, interval: 250 },
    );
  });

  test('the API server finds nothing odd in the expressions', async () => {
    const { items } = await plane.admin.list(policies);
    const checked = items.map(({ status }) => status);
    expect(checked).toHaveLength(enforcements.length);
    for (const status of checked)
      expect(status).toEqual({ observedGeneration: 1, typeChecking: {} });
  });

  test('what is read back is what was applied', async () => {
    const before = await applyAll(plane.admin, await readManifests([component]));
    const after = await applyAll(plane.admin, await readManifests([component]));
    const versions = (all: KubeObject[]) => all.map(({ metadata }) => metadata?.resourceVersion);
    expect(versions(after)).toEqual(versions(before));
    expect(after).toHaveLength(2 * enforcements.length);
  });

  test('everything passes without the CRD, other providers included', async () => {
    const crd = { name: 'unikraftquotapolicies.karpenter.unikraft.com' };
    await deleteAll(plane.admin, [
      { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: crd },
    ]);
    await vi.waitFor(
      async () => {
        const served = JSON.stringify(
          await plane.admin.raw('/apis/karpenter.unikraft.com/v1alpha1'),
        );
        expect(served).not.toContain('unikraftquotapolicies');
      },
      { timeout: 30_000, interval: 250 },
    );

    for (const limits of [{ cpu: '1000' }, undefined]) {
      expect(await tried(limited(limits))).toEqual({ ok: true, said: '' });
    }
    expect((await tried(machineOf({ vcpus: 64 }))).ok).toBe(true);
  });
});
