import { describe, expect, test } from 'vitest';

import { labels } from '#schemas/names.ts';

import { injectInto } from './injection.ts';
import type { AdmissionRequest, Decision } from './review.ts';

const toleration = {
  key: 'virtual-kubelet.io/provider',
  operator: 'Equal',
  value: 'ukc',
  effect: 'NoSchedule',
};
const selector = { 'unikraft.com/virtual-kubelet': 'true' };
const selectorPath = '/spec/nodeSelector/unikraft.com~1virtual-kubelet';
const askFor = (wish: string) => ({ labels: { [labels.inject]: wish } });

type Loose = Record<string, unknown>;

function creationOf(object: unknown, more: Partial<AdmissionRequest> = {}): AdmissionRequest {
  const kind = { group: '', version: 'v1', kind: 'Pod' };
  return { uid: 'u', operation: 'CREATE', kind, object: object as object, ...more };
}

function decide(spec: Loose, metadata: Loose = {}): Decision {
  return injectInto(creationOf({ metadata, spec: { containers: [], ...spec } }));
}

const patchOf = (decision: Decision) => (decision.allowed ? decision.patch : 'denied');

describe('a Pod that opts in gets what it lacks', () => {
  test('by label: both', () => {
    expect(patchOf(decide({}, askFor('true')))).toEqual([
      { op: 'add', path: '/spec/nodeSelector', value: selector },
      { op: 'add', path: '/spec/tolerations', value: [toleration] },
    ]);
  });

  test('by the toleration: the selector, beside those that it has', () => {
    const spec = { tolerations: [toleration], nodeSelector: { disk: 'fast' } };
    expect(patchOf(decide(spec))).toEqual([{ op: 'add', path: selectorPath, value: 'true' }]);
  });

  test('by the selector: the toleration, after those that it has', () => {
    const spec = { nodeSelector: selector, tolerations: [{ key: 'gpu', operator: 'Exists' }] };
    expect(patchOf(decide(spec))).toEqual([
      { op: 'add', path: '/spec/tolerations/-', value: toleration },
    ]);
  });

  test.each([
    ['absent', undefined, '/spec/tolerations', undefined, '/spec/nodeSelector'],
    ['null', null, '/spec/tolerations', null, '/spec/nodeSelector'],
    ['empty', [], '/spec/tolerations/-', {}, selectorPath],
  ])('B1: where it is %s', (_, tolerations, tolerationsAt, nodeSelector, selectorAt) => {
    const patch = patchOf(decide({ tolerations, nodeSelector }, askFor('true')));
    expect(patch).toMatchObject([{ path: selectorAt }, { path: tolerationsAt }]);
  });

  test.each([
    ['for other effects only', { ...toleration, effect: 'NoExecute' }],
    ['of another provider', { ...toleration, value: 'azure' }],
    ['of another key', { key: 'example.com/key', operator: 'Exists' }],
  ])('the toleration also when it has one %s', (_, present) => {
    const patch = patchOf(decide({ tolerations: [present] }, askFor('true')));
    expect(patch).toContainEqual({ op: 'add', path: '/spec/tolerations/-', value: toleration });
  });

  test.each([
    ['without effect', { key: toleration.key, operator: 'Equal', value: 'ukc' }],
    ['without operator', { key: toleration.key, value: 'ukc', effect: 'NoSchedule' }],
    ['of all its values', { key: toleration.key, operator: 'Exists' }],
    ['of everything', { operator: 'Exists' }],
    ['of everything that keeps Pods off', { operator: 'Exists', effect: 'NoSchedule', key: '' }],
  ])('B9: no toleration when one covers the taint: %s', (_, present) => {
    const spec = { tolerations: [present], nodeSelector: selector };
    expect(patchOf(decide(spec, askFor('true')))).toBeUndefined();
  });
});

describe('a Pod in a namespace that opts in', () => {
  const byNamespace = { byNamespace: true };
  const inNamespace = (spec: Loose, metadata: Loose = {}) =>
    injectInto(creationOf({ metadata, spec }, { namespace: 'team' }), byNamespace);

  test('gets both though it says nothing', () => {
    expect(patchOf(inNamespace({}))).toHaveLength(2);
  });

  test('says "false", and is left as it is', () => {
    expect(inNamespace({}, askFor('false'))).toEqual({ allowed: true });
  });

  test('needs nothing once the other hook has been there', () => {
    const spec = { nodeSelector: selector, tolerations: [toleration] };
    expect(inNamespace(spec)).toEqual({ allowed: true });
  });

  test('cannot go there: the audit log says why, and nobody who did not ask is warned', () => {
    expect(inNamespace({ hostNetwork: true })).toEqual({
      allowed: true,
      auditAnnotations: { skipped: expect.stringContaining('hostNetwork') as string },
    });
    expect(inNamespace({ hostNetwork: true }, askFor('true'))).toHaveProperty('warnings');
  });

  test('selects other nodes: that is kept, with a warning', () => {
    const decision = inNamespace({ nodeSelector: { 'unikraft.com/virtual-kubelet': 'false' } });
    expect(decision).toMatchObject({
      allowed: true,
      warnings: [expect.stringContaining('is kept')],
    });
    expect(patchOf(decision)).toBeUndefined();
  });
});

test('B5: a Pod of a namespace that is left alone stays as it is, by the namespace of the request', () => {
  const excluded = new Set(['kube-system']);
  const pod = { metadata: { ...askFor('true'), namespace: 'team' }, spec: {} };
  const there = creationOf(pod, { namespace: 'kube-system' });
  for (const byNamespace of [false, true]) {
    expect(injectInto(there, { excluded, byNamespace })).toEqual({
      allowed: true,
      auditAnnotations: { skipped: 'namespace kube-system is excluded' },
    });
  }
  expect(patchOf(injectInto({ ...there, namespace: 'team' }, { excluded }))).toHaveLength(2);
});

describe('a Pod that does not opt in is left as it is', () => {
  test.each<[string, Loose, Loose]>([
    ['it says nothing', {}, {}],
    [
      'it says "false", whatever else it says',
      { tolerations: [toleration], nodeSelector: selector },
      askFor('false'),
    ],
    ['its label says something else', {}, askFor('yes')],
    [
      'it tolerates any virtual node',
      { tolerations: [{ key: toleration.key, operator: 'Exists' }] },
      {},
    ],
    ['it tolerates everything', { tolerations: [{ operator: 'Exists' }] }, {}],
    ['it selects other nodes', { nodeSelector: { 'unikraft.com/virtual-kubelet': 'false' } }, {}],
    [
      'it has labels with names of JavaScript',
      {},
      JSON.parse('{"labels":{"__proto__":"true","constructor":"true"}}') as Loose,
    ],
    ['its labels are null', {}, { labels: null }],
  ])('%s', (_, spec, metadata) => {
    expect(decide(spec, metadata)).toEqual({ allowed: true });
  });
});

describe('B11, B12, B13: a Pod that opts in and cannot go there is admitted with the reason', () => {
  test.each<[string, Loose, Loose]>([
    ['mirror', {}, { annotations: { 'kubernetes.io/config.mirror': 'x' } }],
    ['DaemonSet', {}, { ownerReferences: [{ kind: 'DaemonSet', name: 'agent' }] }],
    ['bound', { nodeName: 'node-1' }, {}],
    ['hostNetwork', { hostNetwork: true }, {}],
    ['Windows', { os: { name: 'windows' } }, {}],
    ['Windows', { nodeSelector: { 'kubernetes.io/os': 'windows' } }, {}],
    ['="false"', { nodeSelector: { 'unikraft.com/virtual-kubelet': 'false' } }, {}],
    [`="x\\n`, { nodeSelector: { 'unikraft.com/virtual-kubelet': `x\n${'y'.repeat(300)}` } }, {}],
  ])('%s', (reason, spec, metadata) => {
    const decision = decide(spec, { ...metadata, ...askFor('true') });
    expect(patchOf(decision)).toBeUndefined();
    expect(decision).toMatchObject({
      allowed: true,
      warnings: [expect.stringContaining(reason)],
      auditAnnotations: { skipped: expect.stringContaining(reason) as string },
    });
    for (const text of decision.warnings ?? []) expect(text.length).toBeLessThanOrEqual(120);
  });
});

describe('what is no creation of a Pod', () => {
  const pod = { metadata: askFor('true'), spec: {} };
  const other = { group: 'apps', version: 'v1', kind: 'Deployment' };

  test.each<[string, AdmissionRequest]>([
    ['an update', creationOf(pod, { operation: 'UPDATE' })],
    ['a deletion, which has no object', creationOf(null, { operation: 'DELETE', oldObject: pod })],
    ...['binding', 'ephemeralcontainers', 'resize', 'status', 'eviction'].map(
      (subResource): [string, AdmissionRequest] => [subResource, creationOf(pod, { subResource })],
    ),
    ['another kind', creationOf(pod, { kind: other })],
  ])('passes: %s', (_, request) => {
    expect(injectInto(request)).toEqual({ allowed: true });
  });

  // A patch against such a Pod could fail to apply, and fail the creation with it.
  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['a text', 'pod'],
    ['a list', []],
    ['without spec', { metadata: askFor('true') }],
    ['with a list for a spec', { ...pod, spec: [] }],
    ['with a text for metadata', { metadata: 'x', spec: {} }],
    ['with a map for tolerations', { ...pod, spec: { tolerations: { a: 1 } } }],
    ['with null among the tolerations', { ...pod, spec: { tolerations: [null] } }],
    ['with a list for a selector', { ...pod, spec: { nodeSelector: ['a'] } }],
    ['with a text for owners', { ...pod, metadata: { ...askFor('true'), ownerReferences: 'x' } }],
  ])('an object that is hardly a Pod is left to the API server: %s', (_, object) => {
    expect(injectInto(creationOf(object))).toEqual({ allowed: true });
  });
});
