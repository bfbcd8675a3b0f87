import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { size } from '#scheduling/testing/build.ts';
import type { Pod, Taint } from '#schemas/kubernetes/core.ts';
import { minutes, type Clock } from '#schemas/time/clock.ts';

import { firstPause } from '../pauses.ts';
import { concerns, keyOf, type Cause } from './cause.ts';
import { Launches } from './launches.ts';
import { groupsOf } from './pod-group.ts';
import { allowed } from './rest.ts';
import { Rests } from './rests.ts';

const keys = ['a', 'b', 'c'] as const;
const basis = { generation: 1, revision: 'r' };

/** A Pod comes: of one of many shapes, which tolerates some taints, and would get a machine with some. */
interface Arrival {
  readonly wait: number;
  readonly shape: number;
  readonly tolerated: readonly string[];
  readonly taints: readonly string[];
}

const arrivals = fc.array(
  fc.record<Arrival>({
    wait: fc.integer({ min: 0, max: minutes(15) }),
    shape: fc.integer({ min: 1, max: 30 }),
    tolerated: fc.subarray([...keys]),
    taints: fc.oneof(fc.constant([]), fc.constant(['a']), fc.subarray([...keys])),
  }),
  { minLength: 10, maxLength: 90 },
);

function podOf({ shape, tolerated }: Arrival): Pod {
  const tolerations = tolerated.map((key) => ({ key, operator: 'Exists' as const }));
  const requests = { cpu: `${shape}m` };
  return {
    metadata: { namespace: 'shop', name: 'p' },
    spec: { containers: [{ name: 'app', resources: { requests } }], tolerations },
  };
}

function causeOf(key: string): Cause {
  const taint: Taint = { key, effect: 'NoSchedule' };
  return { kind: 'taint', subject: key, taint };
}

/** A pool whose machines open at once, with what came of each; and beside it a count of our own. */
class Pool {
  now = minutes(1);
  readonly launches = new Launches({ now: () => this.now } as Clock);
  readonly #rests = new Rests(this.launches);
  /** When machines were made in vain, by cause and by shape, since the last that was of use. */
  readonly inVain = new Map<string, number[]>();
  #count = 0;

  /** @returns the causes that it is in vain by, which are none where it is of use; undefined when it is not made */
  arrive(arrival: Arrival): readonly Cause[] | undefined {
    this.now += arrival.wait;
    const pod = podOf(arrival);
    this.#rests.begin(new Map([['web', this.launches.restingIn('web', basis)]]), this.now);
    const parts = { requirements: [], requests: {}, instanceTypes: [size(2)], pods: ['shop/p'] };
    if (this.#rests.ask({ nodePool: 'web', ...parts }, [pod])) return undefined;
    const claim = `web-${(this.#count += 1)}`;
    const groups = groupsOf([pod]);
    this.launches.add({ claim, pool: 'web', groups, basis, at: this.now });
    const shown = arrival.taints.map(causeOf);
    this.launches.shows(claim, shown);
    const met = shown.filter((cause) => concerns(cause, pod, undefined));
    if (met.length === 0) this.launches.used(claim, (cause) => concerns(cause, pod, undefined));
    else this.launches.useless(claim, { why: undefined, causes: met, isOfItsKind: true });
    return met;
  }

  of(key: string): readonly number[] {
    return this.inVain.get(key) ?? [];
  }

  count(arrival: Arrival, met: readonly Cause[]): void {
    const kind = shapeOf(arrival);
    if (met.length > 0) {
      for (const key of [kind, ...met.map(keyOf)])
        this.inVain.set(key, [...this.of(key), this.now]);
    } else {
      const disproved = keys.filter((key) => !arrival.tolerated.includes(key)).map(causeOf);
      for (const key of [kind, ...disproved.map(keyOf)]) this.inVain.delete(key);
    }
  }
}

const shapeOf = ({ shape, tolerated }: Arrival): string => `${shape} ${tolerated.join()}`;

/** The arrivals after which something is not as it should be. */
function troublesOf(
  all: readonly Arrival[],
  look: (pool: Pool, arrival: Arrival, met: readonly Cause[] | undefined) => boolean,
): readonly Arrival[] {
  const pool = new Pool();
  return all.filter((arrival) => {
    const met = pool.arrive(arrival);
    const isRight = look(pool, arrival, met);
    if (met) pool.count(arrival, met);
    return !isRight;
  });
}

function isPaced(pool: Pool, _: Arrival, met: readonly Cause[] = []): boolean {
  return met.map(keyOf).every((key) => {
    const before = pool.of(key);
    return before.length < allowed || pool.now - (before.at(-1) ?? 0) >= firstPause;
  });
}

function isHeldForAReason(
  pool: Pool,
  arrival: Arrival,
  met: readonly Cause[] | undefined,
): boolean {
  const against = keys.filter((key) => !arrival.tolerated.includes(key)).map(causeOf);
  const counts = [shapeOf(arrival), ...against.map(keyOf)].map((key) => pool.of(key).length);
  return met !== undefined || Math.max(...counts) >= allowed;
}

const runs = { numRuns: 300 };

describe('whatever Pods come, and whatever keeps them off', () => {
  test('no more than three machines are in vain by one cause, and then one after each pause', () => {
    const property = fc.property(arrivals, (all) => {
      expect(troublesOf(all, isPaced)).toEqual([]);
    });
    fc.assert(property, runs);
  });

  test('nobody waits whom no such cause concerns, nor any like them', () => {
    const property = fc.property(arrivals, (all) => {
      expect(troublesOf(all, isHeldForAReason)).toEqual([]);
    });
    fc.assert(property, runs);
  });
});
