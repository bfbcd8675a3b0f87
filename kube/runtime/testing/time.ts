import type { Duration } from '#schemas/time/clock.ts';
import type { FakeClock } from '#schemas/time/fake-clock.ts';

/** Moves time only after everything that can go on without it has done so and set its timers. */
export async function forward(clock: FakeClock, duration: Duration): Promise<void> {
  await clock.forward(0);
  await clock.forward(duration);
}
