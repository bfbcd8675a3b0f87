import { beforeEach, expect, test } from 'vitest';

import { nodeClaims, type NodeClaim } from '#schemas/karpenter/types.ts';
import { annotations } from '#schemas/names.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';

import { memoryContext } from '../../testing/context.ts';
import { condition, nodeClaim } from '../../testing/objects.ts';
import { ClaimInHand } from './claim-in-hand.ts';

let memory: ReturnType<typeof memoryContext>;
beforeEach(() => {
  memory = memoryContext();
});

function handOf(claim: Partial<NodeClaim> = {}): ClaimInHand {
  const live = memory.client.seed(nodeClaims, nodeClaim('web-1', claim));
  return new ClaimInHand(live, undefined, memory.context.clusterUid, memory.clock);
}
const typesOf = (hand: ClaimInHand): string[] =>
  (hand.status.conditions ?? []).map(({ type }) => type);

test('a new claim has upstream’s conditions, Unknown', () => {
  const hand = handOf();
  hand.conclude();
  expect(hand.status.conditions).toMatchObject(
    ['Launched', 'Registered', 'Initialized', 'Ready'].map((type) => ({ type, status: 'Unknown' })),
  );
});

test('conditions of one second tell the story in its order, and writing it again changes nothing', () => {
  const hand = handOf();
  for (const type of ['Consolidatable', 'Initialized', 'Registered', 'DNSReady', 'Launched']) {
    hand.set({ type, status: 'True' });
  }
  hand.conclude();
  const told = ['Launched', 'DNSReady', 'Registered', 'Initialized', 'Consolidatable', 'Ready'];
  expect(typesOf(hand)).toEqual(told);
  const again = handOf({ status: hand.status });
  again.conclude();
  expect(again.status.conditions).toEqual(hand.status.conditions);
});

test('Ready needs upstream’s three and none of ours', () => {
  const hand = handOf();
  hand.set({ type: 'KraftletInstalled', status: 'False', reason: 'Uninstalled' });
  for (const type of ['Launched', 'Registered', 'Initialized']) hand.set({ type, status: 'True' });
  expect(hand.is('Ready')).toBe(true);
});

test('the object that was read is never changed', () => {
  const status = { conditions: [condition('Launched', 'Unknown')] };
  const hand = handOf({ status });
  hand.set({ type: 'Launched', status: 'True' });
  hand.status.providerID = 'unikraft://aws/r/z/i-1';
  expect(memory.client.peek(nodeClaims, { name: 'web-1' })?.status).toEqual(status);
});

test('a claim may have a machine from its intent on, and for good once it has a provider id', () => {
  expect(handOf().mayHaveMachine).toBe(false);
  const spoilt = { metadata: { annotations: { [annotations.intent]: 'spoilt' } } };
  expect(handOf(spoilt).mayHaveMachine).toBe(true);
  expect(handOf({ status: { providerID: 'unikraft://aws/r/z/i-1' } }).mayHaveMachine).toBe(true);
});

test('time without progress counts from the last step, the deletion, or the birth', async () => {
  const { clock } = memory;
  const hand = handOf();
  await clock.forward(minutes(1));
  expect(hand.unmovedFor).toBe(minutes(1));
  hand.set({ type: 'Launched', status: 'True' });
  await clock.forward(seconds(10));
  hand.set({ type: 'DNSReady', status: 'Unknown', reason: 'Throttled' });
  expect(hand.unmovedFor).toBe(seconds(10));
  const leaving = handOf({ metadata: { deletionTimestamp: clock.stamp() }, status: hand.status });
  await clock.forward(seconds(5));
  expect(leaving.unmovedFor).toBe(seconds(5));
});
