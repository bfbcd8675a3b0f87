import { describe, expect, test } from 'vitest';

import type { NodePool } from '../karpenter/types.ts';
import type { Toleration } from '../kubernetes/core.ts';
import type { KubeObject } from '../kubernetes/meta.ts';
import { group, labels, nodeClassKind } from '../names.ts';
import { violations } from './evaluate.ts';
import { capacityType, claim, container, nodeClass, pod, pool } from './samples.ts';

/** What admission of others once let through, or kept in: docs/reference/admission-advisories.md has the list. */

const create = { operation: 'CREATE' };
const spot = (): NodePool => pool([capacityType('In', 'spot')]);

function denied(object: KubeObject, review: Parameters<typeof violations>[1] = create): string[] {
  return violations(object, review)
    .filter(({ severity }) => severity === 'deny')
    .map(({ code }) => code);
}

function withMetadata<T extends KubeObject>(object: T, metadata: KubeObject['metadata']): T {
  return { ...object, metadata: { ...object.metadata, ...metadata } };
}

describe('A3: what is asked of containers is asked of each kind of container', () => {
  const probing = container({ name: 'x', livenessProbe: { tcpSocket: { port: 80 } } });
  test.each(['containers', 'initContainers', 'ephemeralContainers'])('%s', (list) => {
    const found = violations(pod({ [list]: [probing] }), create);
    expect(found.map(({ path }) => path)).toContain(`spec.${list}[0]`);
  });

  test('and when it comes by the subresource', () => {
    const after = pod({ ephemeralContainers: [probing] });
    const review = { operation: 'UPDATE', oldObject: pod(), subResource: 'ephemeralcontainers' };
    expect(violations(after, review).map(({ rule }) => rule)).toEqual([
      'container-does-not-count-on-probes',
      'pod-is-debugged-from-outside',
    ]);
  });
});

describe('A4, B7: an object that is being deleted', () => {
  const leaving = withMetadata(pool([]), {
    deletionTimestamp: '2026-11-30T00:00:00Z',
    finalizers: ['karpenter.sh/termination'],
  });

  test('is judged as any other when its spec is changed', () => {
    const edited = { ...leaving, spec: spot().spec };
    expect(denied(edited, { operation: 'UPDATE', oldObject: leaving })).toEqual(['KPU101']);
  });

  test('lets go of its finalizer, however bad it is (B6)', () => {
    const bad = { ...leaving, spec: spot().spec };
    const freed = withMetadata(bad, { finalizers: [] });
    expect(violations(freed, { operation: 'UPDATE', oldObject: bad })).toEqual([]);
  });
});

describe('A6, B17: what comes by the status', () => {
  test('changes no spec, so nothing is judged', () => {
    const after = { ...spot(), status: { nodes: 3 } };
    const review = { operation: 'UPDATE', oldObject: spot(), subResource: 'status' };
    expect(violations(after, review)).toEqual([]);
  });
});

describe('A7, A8: no mark that its writer may set frees an object', () => {
  test.each([
    ['an owner', { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'a', uid: 'b' }] }],
    ['a label', { labels: { 'app.kubernetes.io/managed-by': 'karpenter-provider-unikraft' } }],
    ['an annotation', { annotations: { 'karpenter.unikraft.com/revision': 'x' } }],
    ['a manager', { managedFields: [{ manager: 'karpenter-provider-unikraft' }] }],
  ])('%s', (_, metadata) => {
    expect(denied(withMetadata(spot(), metadata))).toEqual(['KPU101']);
  });
});

describe('A9: what stood there before is not trusted', () => {
  test.each([
    ['the same bad spec of another provider', () => ({ ...spot(), kind: 'NodeClaim' })],
    ['nothing', () => null],
    ['nonsense', () => ({ kind: 'NodePool', spec: 7 }) as KubeObject],
  ])('%s', (_, oldObject) => {
    expect(denied(spot(), { operation: 'UPDATE', oldObject: oldObject() })).toContain('KPU101');
  });
});

describe('A14: names are case-sensitive', () => {
  test('a reference in another case is none', () => {
    const odd = spot() as unknown as { spec: { template: { spec: Record<string, unknown> } } };
    const { nodeClassRef, ...rest } = odd.spec.template.spec;
    odd.spec.template.spec = { ...rest, nodeclassref: nodeClassRef };
    expect(violations(odd as unknown as KubeObject, create)).toEqual([]);
  });

  test('a capacity type in another case is not on demand', () => {
    expect(denied(pool([capacityType('In', 'On-Demand')]))).toEqual(['KPU101']);
  });
});

describe('A15: labels may have names of JavaScript', () => {
  test.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])('%s', (name) => {
    const harmless = pool([], Object.fromEntries([[name, 'spot']]));
    const bad = pool([capacityType('In', 'spot')], Object.fromEntries([[name, 'on-demand']]));
    expect(violations(harmless, create)).toEqual([]);
    expect(denied(bad)).toEqual(['KPU101']);
  });
});

describe('B4, B8: reviews that lack something', () => {
  test('a name, when one is to be made up', () => {
    const { metadata: _, ...nameless } = claim([capacityType('In', 'spot')]);
    expect(denied({ ...nameless, metadata: { generateName: 'web-' } })).toEqual(['KPU101']);
  });

  test.each(['DELETE', 'CONNECT', ''])('an operation that rules are for: %s', (operation) => {
    expect(violations(spot(), { operation, oldObject: spot() })).toEqual([]);
  });
});

describe('a reference that lacks a part', () => {
  const named = (ref: Record<string, string>): NodePool =>
    pool(
      [],
      {},
      {
        nodeClassRef: ref as unknown as ReturnType<
          typeof pool
        >['spec']['template']['spec']['nodeClassRef'],
      },
    );

  test.each([
    ['group', { kind: nodeClassKind, name: 'default' }],
    ['kind', { group, name: 'default' }],
    ['name', { group, kind: nodeClassKind }],
  ])('%s', (_, ref) => {
    expect(denied(named(ref))).toEqual(['KPU103']);
  });

  test.each([
    ['all', {}],
    ['group and ours', { kind: 'EC2NodeClass', name: 'default' }],
  ])('%s is nobody of ours', (_, ref) => {
    expect(violations(named(ref as Record<string, string>), create)).toEqual([]);
  });
});

describe('a Pod', () => {
  const bad = { hostPID: true };
  test.each([
    ['a selector', pod(bad)],
    ['the toleration', pod({ ...bad, nodeSelector: { [labels.virtualKubelet]: 'false' } })],
    [
      'the label',
      pod(
        { ...bad, nodeSelector: { [labels.virtualKubelet]: 'false' }, tolerations: [] },
        { labels: { [labels.inject]: 'true' } },
      ),
    ],
  ])('is ours by %s', (_, object) => {
    expect(violations(object, create).map(({ code }) => code)).toEqual(['KPU153']);
  });

  test.each<[string, { tolerations: Toleration[] }]>([
    ['by tolerating everything', { tolerations: [{ operator: 'Exists' }] }],
    [
      "by tolerating any provider's nodes",
      { tolerations: [{ key: 'virtual-kubelet.io/provider', operator: 'Exists' }] },
    ],
    ['by another value', { tolerations: [{ key: 'virtual-kubelet.io/provider', value: 'azure' }] }],
    ['by no word', { tolerations: [] }],
  ])('is not ours %s', (_, spec) => {
    const object = pod({ ...bad, ...spec, nodeSelector: { [labels.virtualKubelet]: 'false' } });
    expect(violations(object, create)).toEqual([]);
  });
});

test('a node class of another version is of our group, and is judged by no rule of this one', () => {
  const later = { ...nodeClass({ tags: { Name: 'x' } }), apiVersion: `${group}/v2` };
  expect(violations(later, create)).toEqual([]);
});
