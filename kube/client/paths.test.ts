import { expect, test } from 'vitest';

import { nodes, pods, resource, statefulSets } from '#schemas/kubernetes/resource.ts';

import { pathOf, queryOf } from './paths.ts';

test('objects, collections and subresources have their places', () => {
  expect(pathOf(pods)).toBe('/api/v1/pods');
  expect(pathOf(pods, { namespace: 'default' })).toBe('/api/v1/namespaces/default/pods');
  expect(pathOf(nodes, { name: 'a' })).toBe('/api/v1/nodes/a');
  expect(pathOf(statefulSets, { namespace: 'x', name: 'y', subresource: 'status' })).toBe(
    '/apis/apps/v1/namespaces/x/statefulsets/y/status',
  );
});

test('a name keeps its case and cannot leave its place', () => {
  const roles = resource('rbac.authorization.k8s.io/v1', 'ClusterRole', 'clusterroles', 'Cluster');
  expect(pathOf(roles, { name: 'Team:Admin/../x' })).toBe(
    '/apis/rbac.authorization.k8s.io/v1/clusterroles/Team%3AAdmin%2F..%2Fx',
  );
});

test('a namespaced object without namespace is refused before any call', () => {
  expect(() => pathOf(pods, { name: 'web' })).toThrow('Pod web needs a namespace');
});

test('a query leaves out what is not said and escapes the rest', () => {
  expect(queryOf({ limit: 500, labelSelector: 'a in (b,c)', continue: undefined, x: '' })).toBe(
    '?limit=500&labelSelector=a+in+%28b%2Cc%29',
  );
  expect(queryOf({})).toBe('');
});
