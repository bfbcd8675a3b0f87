import { expect, test } from 'vitest';

import type { NodeClaim } from '#schemas/karpenter/types.ts';
import { annotations } from '#schemas/names.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { nodeClaim, ourRef } from '../../testing/objects.ts';
import { deadlineOf, terminationTimestamp } from './deadline.ts';

const deletionTimestamp = '2026-03-01T10:00:00Z';
const leaving = (terminationGracePeriod?: string): NodeClaim =>
  nodeClaim('web-1', {
    metadata: { deletionTimestamp },
    spec: {
      nodeClassRef: ourRef,
      requirements: [],
      ...(terminationGracePeriod !== undefined && { terminationGracePeriod }),
    },
  });
const stamped = (text: string): NodeClaim =>
  nodeClaim('web-1', { metadata: { annotations: { [annotations.terminationTimestamp]: text } } });

test.each([
  ['1h30m', '2026-03-01T11:30:00Z'],
  ['0s', deletionTimestamp],
  ['Never', undefined],
  [undefined, undefined],
])('a grace period of %s ends at %s', (grace, expected) => {
  expect(terminationTimestamp(leaving(grace))).toBe(expected);
});

test('a claim that is not deleted has no deadline yet', () => {
  const claim = leaving('1h');
  delete claim.metadata?.deletionTimestamp;
  expect(terminationTimestamp(claim)).toBeUndefined();
});

test('the stamp is what counts, and one that cannot be read sets no deadline', () => {
  const clock = new FakeClock();
  expect(deadlineOf(stamped(deletionTimestamp), clock)).toBe(Date.parse(deletionTimestamp));
  expect(deadlineOf(stamped('soon'), clock)).toBeUndefined();
  expect(deadlineOf(leaving('1h'), clock)).toBeUndefined();
});
