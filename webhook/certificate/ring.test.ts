import { describe, expect, test } from 'vitest';

import { Authority } from '#pki/authority.ts';
import { hours, minutes, seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { bundleOf, promoted, turnOf, usualLifetimes, type Ring } from './ring.ts';

const lifetimes = usualLifetimes;
const days = (count: number): number => hours(24 * count);

async function authority(clock: FakeClock): Promise<Ring['signing']> {
  const options = { commonName: 'x', validity: lifetimes.authority };
  return (await Authority.create(clock, options)).pem;
}

async function fresh(clock: FakeClock): Promise<Ring> {
  return { signing: await authority(clock), since: clock.stamp(), retired: [] };
}

const lookAt = (ring: Ring, clock: FakeClock, nextTrusted?: number) =>
  turnOf(ring, { clock, lifetimes, nextTrusted });

describe('an authority', () => {
  test('is left alone for two thirds of its year, and then the next one is made', async () => {
    const clock = new FakeClock();
    const ring = await fresh(clock);
    expect(lookAt(ring, clock)).toEqual({ wait: days(365) * (2 / 3) });
    await clock.forward(days(365) * (2 / 3) - 1);
    expect(lookAt(ring, clock)).toEqual({ wait: 1 });
    await clock.forward(1);
    expect(lookAt(ring, clock)).toEqual({ step: 'prepare' });
  });

  test('signs once it has been trusted everywhere for two minutes, and not a moment sooner', async () => {
    const clock = new FakeClock();
    const ring = { ...(await fresh(clock)), next: await authority(clock) };
    expect(lookAt(ring, clock)).toEqual({ wait: minutes(2) });
    const trusted = clock.now();
    await clock.forward(minutes(2) - 1);
    expect(lookAt(ring, clock, trusted)).toEqual({ wait: 1 });
    await clock.forward(1);
    expect(lookAt(ring, clock, trusted)).toEqual({ step: 'promote' });
  });

  test('is trusted on after it has stopped signing, until the last leaf that it may have signed is over', async () => {
    const clock = new FakeClock();
    const old = await fresh(clock);
    const next = await authority(clock);
    const ring = promoted({ ...old, next }, clock.stamp());
    expect(ring).toEqual({
      signing: next,
      since: clock.stamp(),
      retired: [`${old.signing.certificate}\n`],
    });
    expect(bundleOf(ring)).toBe(next.certificate + '\n' + old.signing.certificate + '\n');

    await clock.forward(days(14));
    expect(lookAt(ring, clock)).toHaveProperty('wait');
    await clock.forward(minutes(2) + seconds(1));
    expect(lookAt(ring, clock)).toEqual({ step: 'drop' });
  });
});
