import { describe, expect, test } from 'vitest';

import type { Lease } from '#schemas/kubernetes/core.ts';
import { milliseconds, seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { hasExpired, heldBy, holderOf, microTime, observe, releasedBy } from './lease.ts';

const clock = new FakeClock({ start: Date.parse('2026-01-01T00:00:00Z') });
const duration = seconds(15);
const empty: Lease = { metadata: { name: 'leader' } };

describe('taking it', () => {
  test('a new lease starts with no transitions, and a new holder is one', async () => {
    const first = heldBy(empty, 'a', duration, clock);
    await clock.forward(seconds(1));
    const renewed = heldBy(first, 'a', duration, clock);
    const taken = heldBy(renewed, 'b', duration, clock);

    expect(first.spec).toEqual({
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:00.000000Z',
      leaseTransitions: 0,
    });
    expect(renewed.spec).toEqual({ ...first.spec, renewTime: '2026-01-01T00:00:01.000000Z' });
    expect(taken.spec).toMatchObject({
      holderIdentity: 'b',
      acquireTime: '2026-01-01T00:00:01.000000Z',
      leaseTransitions: 1,
    });
  });

  test('a released lease has no holder and keeps count', () => {
    const released = releasedBy(heldBy(empty, 'a', duration, clock), clock);

    expect(holderOf(released)).toBe('');
    expect(released.spec).not.toHaveProperty('holderIdentity');
    expect(heldBy(released, 'b', duration, clock).spec?.leaseTransitions).toBe(1);
  });

  test('fields that we do not know stay', () => {
    const newer = { ...empty, spec: { strategy: 'OldestEmulationVersion' } } as Lease;

    expect(heldBy(newer, 'a', duration, clock).spec).toHaveProperty('strategy');
  });
});

describe('judging it', () => {
  const held = heldBy(empty, 'a', duration, clock);

  test('an old record is no reason to take it: the wait begins when we see it', () => {
    const ancient: Lease = { spec: { ...held.spec, renewTime: '1999-01-01T00:00:00.000000Z' } };
    const seen = observe(undefined, ancient, 1000);

    expect(hasExpired(ancient, seen, 1000, duration)).toBe(false);
    expect(hasExpired(ancient, observe(seen, ancient, 15_999), 15_999, duration)).toBe(false);
    expect(hasExpired(ancient, observe(seen, ancient, 16_000), 16_000, duration)).toBe(true);
  });

  test('each renewal starts the wait anew', async () => {
    const seen = observe(undefined, held, 0);
    await clock.forward(milliseconds(1));
    const renewed = heldBy(held, 'a', duration, clock);

    expect(observe(seen, renewed, 14_000)).toMatchObject({ since: 14_000 });
  });

  test('a holder that promised a longer time gets it', () => {
    const patient: Lease = { spec: { ...held.spec, leaseDurationSeconds: 60 } };
    const seen = observe(undefined, patient, 0);

    expect(hasExpired(patient, seen, seconds(59), duration)).toBe(false);
    expect(hasExpired(patient, seen, seconds(60), duration)).toBe(true);
  });
});

test('times have six digits', async () => {
  const precise = new FakeClock({ start: Date.parse('2026-01-01T00:00:00.007Z') });

  expect(microTime(precise)).toBe('2026-01-01T00:00:00.007000Z');
});
