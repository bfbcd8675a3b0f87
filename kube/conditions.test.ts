import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { Condition } from '#schemas/kubernetes/meta.ts';

import {
  type ConditionScope,
  ConditionSet,
  getCondition,
  isTrue,
  scopeOf,
  setCondition,
  withRoot,
} from './conditions.ts';

const born = '2026-01-01T00:00:00Z';
const at = (minute: number): string => `2026-01-01T00:${String(minute).padStart(2, '0')}:00Z`;
const scope = (minute: number, more: Partial<ConditionScope> = {}): ConditionScope => ({
  generation: 1,
  now: at(minute),
  created: born,
  ...more,
});
const claim = new ConditionSet(['Launched', 'Registered', 'Initialized']);
const typesOf = (conditions: Condition[]): string[] => conditions.map(({ type }) => type);

describe('a new object', () => {
  test('has every dependent Unknown since its creation, and the root last', () => {
    const conditions = claim.initialize(undefined, scope(5));

    expect(typesOf(conditions)).toEqual(['Launched', 'Registered', 'Initialized', 'Ready']);
    expect(conditions[0]).toEqual({
      type: 'Launched',
      status: 'Unknown',
      reason: 'AwaitingReconciliation',
      message: 'object is awaiting reconciliation',
      observedGeneration: 1,
      lastTransitionTime: born,
    });
    expect(getCondition(conditions, 'Ready')).toMatchObject({
      status: 'Unknown',
      reason: 'ReconcilingDependents',
      message: 'Launched=Unknown, Registered=Unknown, Initialized=Unknown',
      lastTransitionTime: born,
    });
  });

  test('is born unready even if its first word is a success', () => {
    const conditions = claim.set(undefined, { type: 'Launched', status: 'True' }, scope(5));

    expect(getCondition(conditions, 'Launched')).toMatchObject({
      reason: 'Launched',
      message: '',
      lastTransitionTime: at(5),
    });
    expect(getCondition(conditions, 'Ready')?.message).toBe(
      'Registered=Unknown, Initialized=Unknown',
    );
  });

  test('gives a condition that is no dependent the time of its own first transition', () => {
    const draining = { type: 'Drained', status: 'Unknown', reason: 'Draining' } as const;
    const conditions = claim.set(undefined, draining, scope(9));

    expect(getCondition(conditions, 'Drained')?.lastTransitionTime).toBe(at(9));
  });
});

describe('the life of a claim', () => {
  const ready = ['Launched', 'Registered', 'Initialized'].reduce<Condition[]>(
    (conditions, type, step) => claim.set(conditions, { type, status: 'True' }, scope(step + 1)),
    [],
  );

  test('ends Ready when all dependents are True, at the time of the last', () => {
    expect(isTrue(ready, 'Ready')).toBe(true);
    expect(getCondition(ready, 'Ready')).toMatchObject({
      reason: 'Ready',
      message: '',
      lastTransitionTime: at(3),
    });
  });

  test('saying the same again gives the same list back, so there is nothing to write', () => {
    expect(claim.set(ready, { type: 'Launched', status: 'True' }, scope(30))).toBe(ready);
    expect(claim.initialize(ready, scope(30))).toBe(ready);
    expect(setCondition(ready, { type: 'Launched', status: 'True' }, scope(30))).toBe(ready);
  });

  test('a new reason is written, but is no transition', () => {
    const change = { type: 'Launched', status: 'True', reason: 'Adopted' } as const;
    const conditions = claim.set(ready, change, scope(30));

    expect(conditions).not.toBe(ready);
    expect(getCondition(conditions, 'Launched')).toMatchObject({
      reason: 'Adopted',
      lastTransitionTime: at(1),
    });
  });

  test('a False dependent makes the root False and is named, newest first', () => {
    const change = { type: 'Registered', status: 'False', reason: 'MultipleNodesFound' } as const;
    const unknown = { type: 'Initialized', status: 'Unknown', reason: 'NodeNotReady' } as const;
    const conditions = claim.set(claim.set(ready, change, scope(10)), unknown, scope(11));

    expect(getCondition(conditions, 'Ready')).toMatchObject({
      status: 'False',
      reason: 'UnhealthyDependents',
      message: 'Initialized=Unknown, Registered=False',
      lastTransitionTime: at(10),
    });
    expect(typesOf(conditions)).toEqual(['Launched', 'Registered', 'Initialized', 'Ready']);
  });

  test('a dependent judged at an older generation is not believed, and a stale False is no verdict', () => {
    const failed = claim.set(
      ready,
      { type: 'Registered', status: 'False', reason: 'X' },
      scope(10),
    );
    const conditions = claim.initialize(failed, scope(20, { generation: 2 }));

    expect(getCondition(conditions, 'Ready')).toMatchObject({
      status: 'Unknown',
      reason: 'ReconcilingDependents',
      message: 'Registered=False, Initialized=True, Launched=True',
      observedGeneration: 2,
    });
    expect(getCondition(conditions, 'Registered')?.observedGeneration).toBe(1);
  });

  test('while it is being deleted, each change brings all generations up to date', () => {
    const change = { type: 'Drained', status: 'Unknown', reason: 'Draining' } as const;
    const conditions = claim.set(ready, change, scope(20, { generation: 2, deleting: true }));

    expect(conditions.every(({ observedGeneration }) => observedGeneration === 2)).toBe(true);
    expect(isTrue(conditions, 'Ready')).toBe(true);
  });

  test('its deletion alone, which raises the generation, does not make it unready', () => {
    const conditions = claim.initialize(ready, scope(20, { generation: 2, deleting: true }));

    expect(conditions.map(({ observedGeneration }) => observedGeneration)).toEqual([2, 2, 2, 2]);
    expect(getCondition(conditions, 'Ready')).toMatchObject({ status: 'True', reason: 'Ready' });
  });

  test('extra conditions come and go, dependents stay', () => {
    const consolidatable = { type: 'Consolidatable', status: 'True' } as const;
    const conditions = claim.set(ready, consolidatable, scope(8));

    expect(typesOf(claim.clear(conditions, 'Consolidatable'))).toEqual(typesOf(ready));
    expect(claim.clear(ready, 'Consolidatable')).toBe(ready);
    expect(() => claim.clear(ready, 'Launched')).toThrow(/set it to Unknown/);
  });
});

test('the scope of an object is what the object says of itself', () => {
  const metadata = { generation: 7, creationTimestamp: born, deletionTimestamp: at(9) };

  expect(scopeOf({ metadata }, at(10))).toEqual({
    generation: 7,
    now: at(10),
    created: born,
    deleting: true,
  });
  expect(scopeOf({}, at(10))).toEqual({ generation: 0, now: at(10), deleting: false });
});

test('fields that only a newer Kubernetes knows stay on a condition', () => {
  const newer = { type: 'Launched', status: 'Unknown', lastHeartbeatTime: born } as Condition;

  const [condition] = setCondition([newer], { type: 'Launched', status: 'True' }, scope(1));

  expect(condition).toMatchObject({ status: 'True', lastHeartbeatTime: born });
});

const changes = fc.array(
  fc.record({
    type: fc.constantFrom('Launched', 'Registered', 'Initialized', 'Drifted'),
    status: fc.constantFrom('True', 'False', 'Unknown' as const),
    reason: fc.constantFrom('A', 'B'),
  }),
  { maxLength: 12 },
);

test('after any history: no doubles, root last and right, sorted, and a repeat changes nothing', () => {
  fc.assert(
    fc.property(changes, (history) => {
      let conditions: Condition[] = [];
      history.forEach((change, minute) => {
        conditions = claim.set(conditions, change, scope(minute));
      });
      conditions = withRoot(conditions, claim.dependents, scope(30));

      expect(new Set(typesOf(conditions)).size).toBe(conditions.length);
      expect(conditions.at(-1)?.type).toBe('Ready');
      expect(isTrue(conditions, 'Ready')).toBe(
        claim.dependents.every((type) => isTrue(conditions, type)),
      );
      const times = conditions.slice(0, -1).map((one) => Date.parse(one.lastTransitionTime ?? ''));
      expect(times).toEqual(times.toSorted((a, b) => a - b));
      for (const last of history.slice(-1)) {
        expect(claim.set(conditions, last, scope(40))).toBe(conditions);
      }
    }),
  );
});

test('what comes true within one second stands in the order in which it came true', () => {
  const unknown = claim.initialize(undefined, scope(0));
  const all = ['Launched', 'Registered', 'Initialized'].reduce(
    (conditions, type) => claim.set(conditions, { type, status: 'True' }, scope(5)),
    unknown,
  );
  expect(typesOf(all)).toEqual(['Launched', 'Registered', 'Initialized', 'Ready']);
});
