import { type Duration, hours, seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { Metrics } from '../../metrics.ts';
import { LeaderElector } from '../leader-election.ts';
import { RecordingLogger } from './fakes.ts';
import { LeaseClient, type LeaseServer } from './lease-server.ts';
import { forward } from './time.ts';

/** Those of client-go, which are quicker to test than our own. */
const times = {
  leaseDuration: seconds(15),
  renewDeadline: seconds(10),
  retryPeriod: seconds(2),
  random: () => 0,
};

/** A process that wants to lead, on its own clock, and what became of it. */
export class Candidate {
  readonly clock: FakeClock;
  readonly client: LeaseClient;
  readonly log = new RecordingLogger();
  readonly metrics = new Metrics();
  readonly end = new AbortController();
  readonly elector: LeaderElector;
  /** Whether it does what only a leader may do. */
  acting = false;
  terms = 0;
  outcome: unknown;
  /** How long it needs to stop after it was told to. */
  tidiesFor = 0;
  readonly ended: Promise<void>;

  constructor(server: LeaseServer, identity: string, clock = new FakeClock()) {
    this.clock = clock;
    this.client = new LeaseClient(server);
    const { client, log, metrics } = this;
    const lease = { namespace: 'kpu', name: 'leader', identity };
    this.elector = new LeaderElector({ client, clock, log, metrics, ...lease, ...times });
    this.ended = this.elector
      .run(async (fence) => this.#lead(fence), this.end.signal)
      .then(
        () => void (this.outcome = 'ended'),
        (error: unknown) => void (this.outcome = error),
      );
  }

  async #lead(fence: AbortSignal): Promise<void> {
    this.terms += 1;
    this.acting = true;
    await this.clock.sleep(hours(1000), fence).catch(() => {});
    if (this.tidiesFor > 0) await this.clock.sleep(this.tidiesFor);
    this.acting = false;
  }
}

/** Time that passes while a process stands still: what fell due comes one after the other when it goes on. */
export class FrozenClock extends FakeClock {
  stoodFor = 0;

  override now(): number {
    return super.now() + this.stoodFor;
  }
}

/**
 * Moves several clocks side by side, in steps small enough to see who acts at once.
 *
 * @returns how many acted at once at most
 */
export async function together(duration: Duration, ...candidates: Candidate[]): Promise<number> {
  let most = 0;
  for (let passed = 0; passed < duration; passed += 500) {
    for (const { clock } of candidates) await forward(clock, 500);
    most = Math.max(most, candidates.filter(({ acting }) => acting).length);
  }
  return most;
}
