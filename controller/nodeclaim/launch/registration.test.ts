import { beforeEach, expect, test } from 'vitest';

import { nodeClaims, type NodeClaim } from '#schemas/karpenter/types.ts';
import type { Node, Taint } from '#schemas/kubernetes/core.ts';
import { nodes } from '#schemas/kubernetes/resource.ts';
import { finalizers, labels, taints } from '#schemas/names.ts';
import { seconds } from '#schemas/time/clock.ts';

import { Freshest } from '../../freshest.ts';
import { Nominations } from '../../provisioning/nominations.ts';
import { memoryContext } from '../../testing/context.ts';
import { condition, nodeClaim, providerIDOf } from '../../testing/objects.ts';
import { ClaimInHand } from '../steps/claim-in-hand.ts';
import { Registration } from './registration.ts';

const name = 'web-1';
const notReady: Taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };

let world: ReturnType<typeof memoryContext>;
let step: Registration;

beforeEach(() => {
  world = memoryContext();
  const { context, client, caches, clock } = world;
  const freshNodes = new Freshest<Node>(caches.nodes);
  step = new Registration(client, caches, freshNodes, new Nominations(context), clock);
});

/** A claim whose machine is healthy. */
function claimInHand(
  spec: Partial<NodeClaim['spec']> = {},
  given: Record<string, string> = {},
): ClaimInHand {
  const { spec: usual, ...claim } = nodeClaim(name, { status: { providerID: providerIDOf(name) } });
  const metadata = { ...claim.metadata, labels: { ...claim.metadata?.labels, ...given } };
  const seeded = world.client.seed(nodeClaims, { ...claim, metadata, spec: { ...usual, ...spec } });
  return new ClaimInHand(seeded, undefined, world.context.clusterUid, world.clock);
}

/** As Kraftlet makes it, and Kubernetes once it has put it in order. */
function bornNode(more: Partial<Node['spec']> = {}): Node {
  const names = { [labels.os]: 'linux', 'beta.kubernetes.io/os': 'linux' };
  return {
    metadata: { name, labels: names, creationTimestamp: world.clock.stamp() },
    spec: { providerID: providerIDOf(name), taints: [taints.unregistered], ...more },
    status: { conditions: [condition('Ready')] },
  };
}

const nodeNow = (): Node | undefined => world.client.peek(nodes, { name });
const labelOf = (label: string): string | undefined => nodeNow()?.metadata?.labels?.[label];

test('a Node that lacks nothing is opened and counts as capacity by one patch', async () => {
  world.client.seed(nodes, bornNode());
  expect(await step.run(claimInHand())).toEqual({ kind: 'done' });
  expect(world.client.writes).toHaveLength(1);
  expect(nodeNow()?.spec?.taints).toEqual([taints.kraftlet]);
  expect(nodeNow()?.metadata?.finalizers).toEqual([finalizers.termination]);
  expect([labelOf(labels.registered), labelOf(labels.initialized)]).toEqual(['true', 'true']);
});

test('a Node has its labels by their old names too, since Pods are planned for it that select them', async () => {
  const asked = {
    'failure-domain.beta.kubernetes.io/zone': 'eu-1a',
    'beta.kubernetes.io/instance-type': 'm8i.large',
  };
  world.client.seed(nodes, bornNode());
  await step.run(claimInHand({}, { [labels.zone]: 'eu-1a', [labels.instanceType]: 'm8i.large' }));

  expect(nodeNow()?.metadata?.labels).toMatchObject(asked);
  expect(labelOf('failure-domain.beta.kubernetes.io/region')).toBeUndefined();
});

test('a Node that was born with upstream’s effect is opened all the same', async () => {
  const closed: Taint = { ...taints.unregistered, effect: 'NoExecute' };
  world.client.seed(nodes, bornNode({ taints: [closed] }));
  expect(await step.run(claimInHand())).toEqual({ kind: 'done' });
  expect(nodeNow()?.spec?.taints).toEqual([taints.kraftlet]);
});

test.each(Object.entries<Taint>(taints))(
  'the taint %s evicts nobody: others may see it longer than the scheduler does',
  (_, { effect }) => {
    expect(effect).toBe('NoSchedule');
  },
);

test('while Kubernetes still writes to a new Node, nothing is written to it', async () => {
  world.client.seed(nodes, bornNode({ taints: [taints.unregistered, notReady] }));
  expect(await step.run(claimInHand())).toMatchObject({ kind: 'wait', after: seconds(1) });
  expect(world.client.writes).toEqual([]);
});

test('but a Node is not kept closed for what does not come', async () => {
  world.client.seed(nodes, bornNode({ taints: [taints.unregistered, notReady] }));
  await world.clock.forward(seconds(3));
  expect(await step.run(claimInHand())).toEqual({ kind: 'done' });
  expect(nodeNow()?.spec?.taints).toEqual([notReady, taints.kraftlet]);
  expect(labelOf(labels.initialized)).toBeUndefined();
});

test('a Node that is not Ready is opened, and counts as capacity later', async () => {
  const status = { conditions: [condition('Ready', 'False')] };
  world.client.seed(nodes, { ...bornNode(), status });
  expect(await step.run(claimInHand())).toEqual({ kind: 'done' });
  expect([labelOf(labels.registered), labelOf(labels.initialized)]).toEqual(['true', undefined]);
});

test('startup taints come on, and keep the Node from counting as capacity', async () => {
  const startup: Taint = { key: 'example.com/warming', effect: 'NoSchedule' };
  world.client.seed(nodes, bornNode());
  expect(await step.run(claimInHand({ startupTaints: [startup] }))).toEqual({ kind: 'done' });
  expect(nodeNow()?.spec?.taints).toEqual([taints.kraftlet, startup]);
  expect(labelOf(labels.initialized)).toBeUndefined();
});

test('F4: a startup taint that somebody has taken off never comes back, whatever of the pass was lost', async () => {
  const startup: Taint = { key: 'example.com/warming', effect: 'NoSchedule' };
  world.client.seed(nodes, bornNode());
  await step.run(claimInHand({ startupTaints: [startup] }));
  const node = world.client.peek(nodes, { name })!;
  world.client.seed(nodes, { ...node, spec: { ...node.spec, taints: [taints.kraftlet] } });

  expect(await step.run(claimInHand({ startupTaints: [startup] }))).toEqual({ kind: 'done' });
  expect(nodeNow()?.spec?.taints).toEqual([taints.kraftlet]);
});

test('a claim that asks for the vendor’s taint too gets a Node, which the API server would refuse with both', async () => {
  world.client.seed(nodes, bornNode());
  const spec = { taints: [taints.kraftlet], startupTaints: [taints.kraftlet] };
  expect(await step.run(claimInHand(spec))).toEqual({ kind: 'done' });
  expect(nodeNow()?.spec?.taints).toEqual([taints.kraftlet]);
  expect(labelOf(labels.initialized)).toBe('true');
});
