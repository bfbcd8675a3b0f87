import { describe, expect, test } from 'vitest';

import { hours, minutes, seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { LeaderElector, LeadershipLost, processIdentity } from './leader-election.ts';
import { Candidate, FrozenClock, together } from './testing/candidate.ts';
import { RecordingLogger } from './testing/fakes.ts';
import { LeaseClient, LeaseServer } from './testing/lease-server.ts';
import { forward } from './testing/time.ts';

describe('two processes', () => {
  test('one leads and renews, the other waits', async () => {
    const server = new LeaseServer();
    const a = new Candidate(server, 'a');
    await forward(a.clock, seconds(1));
    const b = new Candidate(server, 'b');

    expect(await together(minutes(2), a, b)).toBe(1);

    expect([a.acting, b.acting]).toEqual([true, false]);
    expect(server.spec('leader')).toMatchObject({ holderIdentity: 'a', leaseTransitions: 0 });
    expect(await a.metrics.text()).toContain('leader_election_master_status{name="leader"} 1');
    expect(await b.metrics.text()).toContain('leader_election_master_status{name="leader"} 0');
  });

  test('when the leader ends, it gives the lease back and the other need not wait for it to run out', async () => {
    const server = new LeaseServer();
    const a = new Candidate(server, 'a');
    await forward(a.clock, seconds(1));
    const b = new Candidate(server, 'b');
    await together(seconds(5), a, b);

    a.end.abort();
    await a.ended;
    await together(seconds(3), b);

    expect(a.outcome).toBe('ended');
    expect(b.acting).toBe(true);
    expect(server.spec('leader')).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
  });

  test('while the old leader tidies up, the new one does not begin', async () => {
    const server = new LeaseServer();
    const a = new Candidate(server, 'a');
    a.tidiesFor = seconds(40);
    await forward(a.clock, seconds(1));
    const b = new Candidate(server, 'b');

    a.end.abort();
    expect(await together(seconds(60), a, b)).toBe(1);

    expect(a.outcome).toBe('ended');
    expect(b.acting).toBe(true);
  });

  test('clocks that are hours apart change nothing', async () => {
    for (const skew of [hours(5), -hours(5)]) {
      const server = new LeaseServer();
      const a = new Candidate(server, 'a');
      await forward(a.clock, seconds(1));
      const b = new Candidate(
        server,
        'b',
        new FakeClock({ start: Date.parse('2026-01-01') + skew }),
      );

      expect(await together(minutes(1), a, b)).toBe(1);
      expect(b.terms).toBe(0);
      a.client.network = 'down';
      expect(await together(minutes(1), a, b)).toBe(1);
      expect(b.acting).toBe(true);
    }
  });

  test('both asking for a lease that does not exist yet: one gets it', async () => {
    const server = new LeaseServer();
    const a = new Candidate(server, 'a');
    const b = new Candidate(server, 'b');

    expect(await together(seconds(10), a, b)).toBe(1);
  });
});

describe('an API server that is away', () => {
  test('for a short time, the leader goes on', async () => {
    const server = new LeaseServer();
    const a = new Candidate(server, 'a');
    await together(seconds(5), a);

    a.client.network = 'down';
    await together(seconds(6), a);
    a.client.network = 'up';
    await together(seconds(30), a);

    expect([a.acting, a.terms, a.outcome]).toEqual([true, 1, undefined]);
    expect(a.log.lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
  });

  test('for long, the leader stops before the other may begin, and its process ends', async () => {
    for (const network of ['down', 'hanging', 'deaf'] as const) {
      const server = new LeaseServer();
      const a = new Candidate(server, 'a');
      await forward(a.clock, seconds(1));
      const b = new Candidate(server, 'b');
      await together(seconds(5), a, b);

      a.client.network = network;
      expect(await together(seconds(60), a, b)).toBe(1);

      expect(a.outcome).toBeInstanceOf(LeadershipLost);
      expect(a.acting).toBe(false);
      expect(b.acting).toBe(true);
    }
  });

  test('for long, the leader stops ten seconds after its last renewal, whatever its calls do', async () => {
    for (const network of ['down', 'hanging', 'deaf'] as const) {
      const server = new LeaseServer();
      const a = new Candidate(server, 'a');
      await together(seconds(5), a); // the last renewal is at 4 seconds
      a.client.network = network;

      await together(seconds(8.5), a);
      expect(a.acting).toBe(true);
      await together(seconds(0.5), a);
      expect(a.acting).toBe(false);
    }
  });

  test('a renewal counts from when it was sent, since others may have seen it then', async () => {
    const server = new LeaseServer();
    const a = new Candidate(server, 'a');
    await together(seconds(5), a);
    a.client.answersLate = async () => a.clock.sleep(seconds(4));
    await together(seconds(6), a); // sent at 6 seconds, answered at 10
    a.client.network = 'down';

    await together(seconds(4.5), a);
    expect(a.acting).toBe(true);
    await together(seconds(0.5), a); // at 16 seconds
    expect(a.acting).toBe(false);
  });

  test('whoever waits for it keeps asking and says so once', async () => {
    const server = new LeaseServer();
    const a = new Candidate(server, 'a');
    a.client.network = 'down';
    await together(minutes(1), a);
    expect(a.log.lines.filter(({ level }) => level === 'warn')).toHaveLength(1);

    a.client.network = 'up';
    await together(seconds(3), a);
    expect(a.acting).toBe(true);
  });

  test('a write whose answer was lost is recognised as our own', async () => {
    const server = new LeaseServer();
    const a = new Candidate(server, 'a');
    await together(seconds(5), a);
    a.client.network = 'deaf';
    await together(seconds(4), a);
    a.client.network = 'up';
    await together(seconds(60), a);

    expect([a.acting, a.terms, a.outcome]).toEqual([true, 1, undefined]);
  });

  test('at the end, the lease is left to run out', async () => {
    const server = new LeaseServer();
    const a = new Candidate(server, 'a');
    await together(seconds(5), a);
    a.client.network = 'hanging';

    a.end.abort();
    await together(seconds(3), a);
    await a.ended;

    expect(a.outcome).toBe('ended');
    expect(server.spec('leader')?.holderIdentity).toBe('a');
  });
});

describe('a leader that stood still', () => {
  test('knows when it goes on that its time is used up, without asking anybody', async () => {
    const server = new LeaseServer();
    const frozen = new FrozenClock();
    const a = new Candidate(server, 'a', frozen);
    await forward(a.clock, 0);
    const b = new Candidate(server, 'b');
    await together(minutes(1), b); // a is frozen
    expect([a.acting, b.acting]).toEqual([true, true]);
    const calls = a.client.calls.length;

    frozen.stoodFor += minutes(1);
    expect(a.elector.leading).toBe(false);
    await forward(frozen, 0);

    expect(a.elector.leading).toBe(false);
    expect(a.acting).toBe(false);
    expect(a.client.calls).toHaveLength(calls);
    expect(a.outcome).toBeInstanceOf(LeadershipLost);
    expect(server.spec('leader')?.holderIdentity).toBe('b');
  });

  test('leads on if it was only a moment', async () => {
    const server = new LeaseServer();
    const frozen = new FrozenClock();
    const a = new Candidate(server, 'a', frozen);
    await forward(a.clock, 0);

    for (let pause = 0; pause < 5; pause++) {
      frozen.stoodFor += seconds(9);
      await forward(frozen, 0);
    }

    expect([a.acting, a.terms, a.outcome]).toEqual([true, 1, undefined]);
  });
});

test('a lease that somebody else took is lost at once', async () => {
  const server = new LeaseServer();
  const a = new Candidate(server, 'a');
  await together(seconds(5), a);

  const lease = server.read('leader');
  server.replace('leader', { ...lease, spec: { ...lease.spec, holderIdentity: 'usurper' } });
  await together(seconds(2.5), a);

  expect(a.outcome).toEqual(new LeadershipLost('leadership lost: somebody else holds the lease'));
  expect(server.spec('leader')?.holderIdentity).toBe('usurper');
});

test('a lease that somebody deleted is made again', async () => {
  const server = new LeaseServer();
  const a = new Candidate(server, 'a');
  await together(seconds(5), a);

  server.delete('leader');
  await together(seconds(5), a);

  expect(a.acting).toBe(true);
  expect(server.spec('leader')?.holderIdentity).toBe('a');
});

test('what fails while leading gives the lease back and is the outcome', async () => {
  const server = new LeaseServer();
  const clock = new FakeClock();
  const elector = new LeaderElector({
    client: new LeaseClient(server),
    clock,
    log: new RecordingLogger(),
    namespace: 'kpu',
    name: 'leader',
    identity: 'a',
  });

  const lead = async (): Promise<void> => {
    throw new Error('broken');
  };
  await expect(elector.run(lead, new AbortController().signal)).rejects.toThrow('broken');

  expect(server.spec('leader')).not.toHaveProperty('holderIdentity');
  expect(clock.waiting).toBe(0);
});

test('it waits no longer once the process is to end', async () => {
  const server = new LeaseServer();
  const a = new Candidate(server, 'a');
  await forward(a.clock, seconds(1));
  const b = new Candidate(server, 'b');
  await together(seconds(2), a, b);

  b.end.abort();
  await b.ended;

  expect([b.outcome, b.terms, b.clock.waiting]).toEqual(['ended', 0, 0]);
});

test('by default, an API server that is away for half a minute ends nothing', async () => {
  const clock = new FakeClock();
  const client = new LeaseClient(new LeaseServer());
  const names = { namespace: 'kpu', name: 'leader', identity: 'a' };
  const elector = new LeaderElector({ client, clock, log: new RecordingLogger(), ...names });
  const end = new AbortController();
  let ended = false;
  const lead = async (fence: AbortSignal): Promise<void> => {
    await clock.sleep(hours(1), fence).catch(() => {});
    ended = true;
  };
  const running = elector.run(lead, end.signal);
  await forward(clock, seconds(60));

  client.network = 'hanging';
  await forward(clock, seconds(35));
  client.network = 'up';
  await forward(clock, minutes(5));
  expect(ended).toBe(false);

  end.abort();
  await running;
});

test('a crashed container that starts again in its Pod is the same leader', async () => {
  const pod = { POD_NAME: 'controller-7d9f6c-x2x4z' };
  const server = new LeaseServer();
  const crashed = new Candidate(server, processIdentity(pod));
  await together(seconds(5), crashed);

  const restarted = new Candidate(server, processIdentity(pod));
  await forward(restarted.clock, seconds(1));

  expect(restarted.acting).toBe(true);
});

test('outside of Pods no two processes have the same identity', () => {
  expect(processIdentity({})).not.toBe(processIdentity({}));
});

test('times without a margin are refused', () => {
  const options = {
    client: new LeaseClient(new LeaseServer()),
    clock: new FakeClock(),
    log: new RecordingLogger(),
    namespace: 'kpu',
    name: 'leader',
    identity: processIdentity(),
  };

  expect(() => new LeaderElector({ ...options, leaseDuration: seconds(45) })).toThrow(RangeError);
  expect(() => new LeaderElector({ ...options, retryPeriod: seconds(45) })).toThrow(RangeError);
});
