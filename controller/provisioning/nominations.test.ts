import { beforeEach, describe, expect, test } from 'vitest';

import type { Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { nodes, pods } from '#schemas/kubernetes/resource.ts';

import { memoryContext } from '../testing/context.ts';
import { conflict, invalid, notFound, unavailable } from '../testing/refusals.ts';
import { Nominations } from './nominations.ts';

let world: ReturnType<typeof memoryContext>;
let nominations: Nominations;
beforeEach(() => {
  world = memoryContext();
  world.client.paths.set('/version', { major: '1', minor: '35+' });
  nominations = new Nominations(world.context);
});

function seedPod(name: string, parts: Pick<Pod, 'status'> & { nodeName?: string } = {}): Live<Pod> {
  const { nodeName, status } = parts;
  const spec = { containers: [{ name: 'app' }], ...(nodeName === undefined ? {} : { nodeName }) };
  return world.client.seed(pods, {
    metadata: { namespace: 'shop', name },
    spec,
    ...(status ? { status } : {}),
  });
}

const told = (name: string) =>
  world.client.peek(pods, { namespace: 'shop', name })?.status?.nominatedNodeName;

describe('a Node that was made for Pods', () => {
  test('is named on each of them that still waits, once', async () => {
    nominations.plan('web-1', [
      seedPod('a'),
      seedPod('b'),
      seedPod('bound', { nodeName: 'host' }),
      seedPod('gone'),
    ]);
    world.client.remove(pods, { namespace: 'shop', name: 'gone' });

    await nominations.nominate('web-1', 'web-3f2a91c0');
    await nominations.nominate('web-1', 'web-3f2a91c0');

    expect(['a', 'b', 'bound'].map(told)).toEqual(['web-3f2a91c0', 'web-3f2a91c0', undefined]);
    expect(world.client.writes).toHaveLength(2);
  });

  test('is not named before Kubernetes 1.35, and the plan is kept', async () => {
    world.client.paths.set('/version', { major: '1', minor: '34' });
    nominations.plan('web-1', [seedPod('a')]);
    await nominations.nominate('web-1', 'web-3f2a91c0');
    expect(world.client.writes).toEqual([]);
    expect(nominations.podsOf('web-1')).toEqual(['shop/a']);
  });

  test('leaves Pods alone that preempt on a Node that is there, and takes those whose Node is gone', async () => {
    world.client.seed(nodes, { metadata: { name: 'there' } });
    const status = (nominatedNodeName: string) => ({ status: { nominatedNodeName } });
    nominations.plan('web-1', [seedPod('a', status('there')), seedPod('b', status('gone'))]);
    await nominations.nominate('web-1', 'new');
    expect(['a', 'b'].map(told)).toEqual(['there', 'new']);
  });

  test('is named again after a failure', async () => {
    nominations.plan('web-1', [seedPod('a'), seedPod('b')]);
    world.client.fail(({ verb }) => verb === 'patch', unavailable());
    await expect(nominations.nominate('web-1', 'new')).rejects.toThrow('503');
    await nominations.nominate('web-1', 'new');
    expect(['a', 'b'].map(told)).toEqual(['new', 'new']);
  });
});

const bound = invalid(
  'status.nominatedNodeName',
  'Forbidden: may not be set on pods that are already bound',
);

describe.each([
  ['was bound', bound],
  ['is gone', notFound(pods, 'shop/a')],
  ['is another one of that name', conflict(pods, 'a')],
])('a Pod that %s since the cache saw it', (_, refusal) => {
  test('waits no more, and keeps nobody from the Node', async () => {
    nominations.plan('web-1', [seedPod('a'), seedPod('b')]);
    world.client.fail(({ verb, key }) => verb === 'patch' && key === 'shop/a', refusal);
    await nominations.nominate('web-1', 'new');
    expect(told('b')).toBe('new');
  });

  test('is not told that its claim has gone', async () => {
    nominations.plan('web-1', [seedPod('a'), seedPod('b')]);
    await nominations.nominate('web-1', 'new');
    world.client.fail(({ verb, key }) => verb === 'patch' && key === 'shop/a', refusal);
    await nominations.forget('web-1');
    expect(told('b')).toBeUndefined();
  });
});

describe('a claim that goes away', () => {
  test('takes its nominations back where Pods still wait', async () => {
    const [a, b] = [seedPod('a'), seedPod('b')];
    nominations.plan('web-1', [a, b]);
    await nominations.nominate('web-1', 'new');
    seedPod('b', { nodeName: 'new', status: { nominatedNodeName: 'new' } });

    await nominations.forget('web-1');

    expect(['a', 'b'].map(told)).toEqual([undefined, 'new']);
    expect(nominations.claimOf(a)).toBeUndefined();
  });

  test('another Pod that got the name of a planned one is not touched', async () => {
    nominations.plan('web-1', [seedPod('a')]);
    world.caches.pods.fallBehind();
    world.client.remove(pods, { namespace: 'shop', name: 'a' });
    seedPod('a');
    await nominations.nominate('web-1', 'new');
    expect(told('a')).toBeUndefined();
  });
});

describe('a Pod that is made again under the same name', () => {
  const again = (): Live<Pod> => {
    world.client.remove(pods, { namespace: 'shop', name: 'a' });
    return seedPod('a');
  };

  test('does not get what the one before it was planned for', async () => {
    nominations.plan('web-1', [seedPod('a')]);
    const second = again();
    expect(nominations.claimOf(second)).toBeUndefined();
    expect(nominations.waitingFor('web-1')).toEqual([]);
    await nominations.nominate('web-1', 'new');
    expect(told('a')).toBeUndefined();
    nominations.settle('web-1');
    expect(nominations.podsOf('web-1')).toEqual([]);
  });

  test('keeps a nomination that is its own when the claim of the one before it goes', async () => {
    nominations.plan('web-1', [seedPod('a')]);
    await nominations.nominate('web-1', 'new');
    again();
    seedPod('a', { status: { nominatedNodeName: 'new' } });
    await nominations.forget('web-1');
    expect(told('a')).toBe('new');
  });

  test('can be planned for another claim, and that ends the plan of the one before it', () => {
    nominations.plan('web-1', [seedPod('a')]);
    const second = again();
    nominations.plan('web-2', [second]);
    expect(nominations.podsOf('web-1')).toEqual([]);
    expect(nominations.claimOf(second)).toBe('web-2');
  });
});

test('a Pod waits for one claim at a time', () => {
  const [a, b] = [seedPod('a'), seedPod('b')];
  nominations.plan('web-1', [a, b]);
  nominations.plan('web-2', [b]);
  expect([nominations.podsOf('web-1'), nominations.podsOf('web-2')]).toEqual([
    ['shop/a'],
    ['shop/b'],
  ]);
  nominations.end('web-1');
  expect(nominations.planned).toEqual(['web-2']);
});
