import type { UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';
import type { Clock, Duration, Instant } from '#schemas/time/clock.ts';
import { parseDuration } from '#schemas/time/duration.ts';

import type { ClaimInHand } from '../steps/claim-in-hand.ts';
import type { End } from '../steps/step.ts';

interface Deadline {
  /** The condition that must be True by then. */
  readonly condition: string;
  readonly startedAt: Instant;
  readonly after: Duration;
  readonly end: Pick<End, 'metric' | 'reason'>;
  readonly code: string;
}

/** What a node class that says nothing gets; the same values stand in its schema. */
const defaults = { launch: '5m', healthy: '20m', registration: '10m' };

/**
 * The deadline that runs now: launch from the claim's creation, health from the running instance, registration
 * (Kraftlet and its Node) from the healthy platform. A Node that registered has no deadline any more, as upstream.
 */
export function deadlineNow(
  hand: ClaimInHand,
  spec: Pick<UnikraftNodeClassSpec, 'deadlines'> | undefined,
): Deadline | undefined {
  const deadlines = { ...defaults, ...spec?.deadlines };
  if (hand.is('Registered')) return undefined;
  if (hand.is('PlatformHealthy')) {
    return {
      condition: 'Registered',
      startedAt: hand.since('PlatformHealthy') ?? hand.createdAt,
      after: parseDuration(deadlines.registration),
      end: { metric: 'registration_timeout', reason: 'RegistrationDeadlineExceeded' },
      code: 'KPU322',
    };
  }
  if (hand.is('InstanceRunning')) {
    return {
      condition: 'PlatformHealthy',
      startedAt: hand.since('InstanceRunning') ?? hand.createdAt,
      after: parseDuration(deadlines.healthy),
      end: { metric: 'health_timeout', reason: 'HealthDeadlineExceeded' },
      code: 'KPU321',
    };
  }
  return {
    condition: hand.is('Launched') ? 'InstanceRunning' : 'Launched',
    startedAt: hand.createdAt,
    after: parseDuration(deadlines.launch),
    end: { metric: 'launch_timeout', reason: 'LaunchDeadlineExceeded' },
    code: 'KPU320',
  };
}

/** Milliseconds left, 0 or less when it has passed. */
export function leftOf({ startedAt, after }: Deadline, clock: Clock): Duration {
  return startedAt + after - clock.now();
}

/** How a claim ends that did not make it; `why` is the message of the condition it waited for. */
export function endOf({ condition, after, end, code }: Deadline, why: string): End {
  const minutes = Math.round(after / 6000) / 10;
  const message =
    `${condition} did not come about within ${minutes} min (${why}); ` +
    `the claim ends, its machine goes, and another one is tried (${code})`;
  return { ...end, message };
}
