import { beforeEach, describe, expect, test } from 'vitest';

import type { Pod } from '#schemas/kubernetes/core.ts';
import type { KubeObject, LabelSelector } from '#schemas/kubernetes/meta.ts';
import {
  replicaSets,
  replicationControllers,
  services,
  statefulSets,
  type Resource,
} from '#schemas/kubernetes/resource.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { MemoryClient } from '../../testing/memory-client.ts';
import { PodSelectors } from './selectors.ts';
import { memorySpreadCaches } from './testing/caches.ts';

let client: MemoryClient;
let selectors: PodSelectors;
beforeEach(() => {
  const clock = new FakeClock();
  client = new MemoryClient(clock);
  selectors = new PodSelectors(memorySpreadCaches(client, clock));
});

function seed(resource: Resource, name: string, selector: unknown, namespace = 'shop'): void {
  client.seed(resource, { metadata: { namespace, name }, spec: { selector } } as KubeObject);
}

const web = { app: 'web', tier: 'front' };
const kinds = {
  ReplicaSet: 'apps/v1',
  StatefulSet: 'apps/v1',
  ReplicationController: 'v1',
  Job: 'batch/v1',
};

/** @param owner  as `ReplicaSet/web-1` */
function pod(labels: Record<string, string> | undefined = web, owner = '', controller = true): Pod {
  const [kind = '', name = ''] = owner.split('/');
  const apiVersion = kinds[kind as keyof typeof kinds];
  const ownerReferences = owner ? [{ apiVersion, kind, name, uid: 'u', controller }] : [];
  return {
    metadata: { namespace: 'shop', name: 'p', ownerReferences, ...(labels && { labels }) },
    spec: { containers: [] },
  };
}

const of = (...asked: Parameters<typeof pod>): readonly LabelSelector[] =>
  selectors.of(pod(...asked));

describe('the Services of a Pod', () => {
  test('are those of its namespace that select it, and all of them say whom it counts', () => {
    seed(services, 'web', { app: 'web' });
    seed(services, 'front', { tier: 'front', app: 'web' });
    seed(services, 'api', { app: 'api' });
    seed(services, 'other', { app: 'web', track: 'canary' });
    seed(services, 'web', { app: 'web', only: 'there' }, 'elsewhere');
    expect(of()).toEqual([{ matchLabels: web }]);
    expect(of({ app: 'api' })).toEqual([{ matchLabels: { app: 'api' } }]);
    expect(of({ app: 'none' })).toEqual([]);
    expect(selectors.of({ metadata: { namespace: 'shop', name: 'bare' } })).toEqual([]);
  });

  test('that select nothing or everything say nothing', () => {
    seed(services, 'external', undefined);
    seed(services, 'all', {});
    expect(of()).toEqual([]);
  });
});

describe('the controller of a Pod', () => {
  const expressions = [{ key: 'tier', operator: 'In' as const, values: ['front'] }];

  test.each([
    ['ReplicaSet', replicaSets],
    ['StatefulSet', statefulSets],
  ] as const)('a %s adds all that it selects by', (kind, resource) => {
    const selector = { matchLabels: { app: 'web' }, matchExpressions: expressions };
    seed(services, 'web', { app: 'web' });
    seed(resource, 'own', selector);
    expect(of(web, `${kind}/own`)).toEqual([{ matchLabels: { app: 'web' } }, selector]);
    expect(of({ app: 'b' }, `${kind}/own`)).toEqual([selector]);
  });

  test('a ReplicationController has the last word on a label', () => {
    seed(services, 'web', { app: 'web' });
    seed(replicationControllers, 'own', { app: 'old', track: 'a' });
    expect(of(web, 'ReplicationController/own')).toEqual([
      { matchLabels: { app: 'old', track: 'a' } },
    ]);
  });

  test.each([
    ['of another kind', 'Job/own', true],
    ['that is not there', 'ReplicaSet/gone', true],
    ['that only owns it', 'ReplicaSet/own', false],
  ])('%s says nothing', (_, owner, controller) => {
    seed(replicaSets, 'own', { matchLabels: web });
    seed(services, 'web', { app: 'web' });
    expect(of(web, owner, controller)).toEqual([{ matchLabels: { app: 'web' } }]);
  });

  test('of that name in another namespace is another one', () => {
    seed(replicaSets, 'own', { matchLabels: web }, 'elsewhere');
    expect(of(web, 'ReplicaSet/own')).toEqual([]);
  });
});

describe('what was found', () => {
  test('is the very same list for Pods that share their labels', () => {
    seed(services, 'web', { app: 'web' });
    seed(replicaSets, 'own', { matchLabels: web });
    expect(of(web, 'ReplicaSet/own')).toBe(of(web, 'ReplicaSet/own'));
    expect(of(web, 'ReplicaSet/own')).not.toEqual(of(web));
  });

  test('is found anew when a Service comes, selects others, or goes, or a controller comes late', () => {
    expect(of(web, 'ReplicaSet/own')).toEqual([]);
    seed(services, 'web', { app: 'web' });
    expect(of()).toEqual([{ matchLabels: { app: 'web' } }]);
    seed(services, 'web', { tier: 'front' });
    expect(of()).toEqual([{ matchLabels: { tier: 'front' } }]);
    seed(services, 'web', { tier: 'back' });
    expect(of()).toEqual([]);
    seed(replicaSets, 'own', { matchLabels: web });
    expect(of(web, 'ReplicaSet/own')).toEqual([{ matchLabels: web }]);
  });

  test('holds while a controller only counts its Pods', () => {
    const seedOwn = (replicas: number) =>
      client.seed(replicaSets, {
        metadata: { namespace: 'shop', name: 'own' },
        spec: { selector: { matchLabels: web }, replicas } as object,
      });
    seedOwn(1);
    const before = of(web, 'ReplicaSet/own');
    seedOwn(2);
    expect(of(web, 'ReplicaSet/own')).toBe(before);
  });

  test('is gone with the Service', async () => {
    seed(services, 'web', { app: 'web' });
    expect(of()).toHaveLength(1);
    await client.delete(services, { namespace: 'shop', name: 'web' });
    expect(of()).toEqual([]);
  });
});
