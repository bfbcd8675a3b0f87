import { expect, test } from 'vitest';

import type { PodDisruptionBudget } from '#schemas/kubernetes/core.ts';
import type { LabelSelector } from '#schemas/kubernetes/meta.ts';
import { podDisruptionBudgets, pods } from '#schemas/kubernetes/resource.ts';

import { memoryContext } from '../../testing/context.ts';
import { pod } from '../../testing/objects.ts';
import { budgetsOf } from './budgets.ts';

const budget = (
  name: string,
  selector?: LabelSelector,
  namespace = 'shop',
): PodDisruptionBudget => ({
  metadata: { name, namespace },
  spec: { ...(selector && { selector }) },
});
const inTier = (...values: string[]): LabelSelector => ({
  matchExpressions: [{ key: 'tier', operator: 'In', values }],
});
const notInTier = (...values: string[]): LabelSelector => ({
  matchExpressions: [{ key: 'tier', operator: 'NotIn', values }],
});

test('a Pod is held by the budgets of its namespace that select it, in the order of their names', () => {
  const { client, caches } = memoryContext();
  for (const one of [
    budget('of-its-app', { matchLabels: { app: 'cart' } }),
    budget('of-all', {}),
    budget('of-another-app', { matchLabels: { app: 'search' } }),
    budget('of-none'),
    budget('elsewhere', {}, 'other'),
    budget('of-its-tier', inTier('front', 'back')),
    budget('of-other-tiers', notInTier('front')),
    budget('but-one-tier', notInTier('back')),
  ]) {
    client.seed(podDisruptionBudgets, one);
  }
  client.seed(pods, pod('cart-0', { metadata: { labels: { app: 'cart', tier: 'front' } } }));
  const cart = client.peek(pods, { namespace: 'shop', name: 'cart-0' });
  expect(cart && budgetsOf(caches, cart)).toEqual([
    'but-one-tier',
    'of-all',
    'of-its-app',
    'of-its-tier',
  ]);
});
