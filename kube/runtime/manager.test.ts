import { describe, expect, test } from 'vitest';

import { hours, minutes, seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { findingsOf } from './checks.ts';
import { RunnableFailed } from './group.ts';
import { LeaderElector, LeadershipLost } from './leader-election.ts';
import { type Elector, Manager, ShutdownTimeout } from './manager.ts';
import { RecordingLogger } from './testing/fakes.ts';
import { LeaseClient, LeaseServer } from './testing/lease-server.ts';
import { Part, PartialCache } from './testing/parts.ts';
import { forward } from './testing/time.ts';

/** A process with a part of each kind; its leading part takes a while to end. */
function processWith(tidiesFor = 0, electorOn?: (clock: FakeClock) => Elector) {
  const clock = new FakeClock();
  const log = new RecordingLogger();
  const story: string[] = [];
  const manager = new Manager({ clock, log, elector: electorOn?.(clock) });
  const cache = new PartialCache('Pod', story, clock);
  const leader = new Part('leader', story, clock, tidiesFor);
  const server = new Part('server', story, clock);
  manager.addBase(new Part('health', story, clock));
  manager.addCaches(cache);
  manager.addAlways(server);
  manager.addLeading(leader);
  const end = new AbortController();
  const run = async (): Promise<void> => manager.run(end.signal);
  const troubles = async (): Promise<string[]> =>
    (await findingsOf(manager.ready, clock)).flatMap(({ trouble }) => trouble ?? []);
  return { clock, log, story, manager, cache, leader, server, end, run, troubles };
}

/** With an election on top. */
function electedProcess(tidiesFor = 0) {
  const lease = new LeaseServer();
  const client = new LeaseClient(lease);
  const names = { namespace: 'kpu', name: 'leader', identity: 'a', log: new RecordingLogger() };
  const electorOn = (clock: FakeClock): Elector => new LeaderElector({ client, clock, ...names });
  return { ...processWith(tidiesFor, electorOn), lease, client };
}

/** What a run that is going to fail fails with. */
async function failureOf(run: Promise<void>): Promise<unknown> {
  return run.then(
    () => 'no failure',
    (error: unknown) => error,
  );
}

describe('the order', () => {
  test('base and caches first, the rest when the caches are full; and back', async () => {
    const { clock, story, cache, end, run, troubles } = processWith();
    const ended = run();
    await forward(clock, hours(1));
    expect(story).toEqual(['+health', '+Pod']);
    expect(await troubles()).toEqual(['waiting for Pod', 'the process is starting']);

    cache.fill();
    await forward(clock, 0);
    expect(story.slice(2)).toEqual(['+server', '+leader']);
    expect(await troubles()).toEqual([]);

    end.abort();
    await ended;
    expect(story.slice(4)).toEqual(['-leader', '-server', '-Pod', '-health']);
    expect(await troubles()).toEqual(['the process is ending']);
    expect(clock.waiting).toBe(0);
  });

  test('leading parts wait for the election, and their lease is given back after they ended', async () => {
    const { clock, story, cache, lease, end, run } = electedProcess(seconds(5));
    lease.create('leader', {
      metadata: { name: 'leader' },
      spec: { holderIdentity: 'b', ...times },
    });
    cache.fill();
    const ended = run();
    await forward(clock, seconds(50));
    expect(story).not.toContain('+leader');
    await forward(clock, seconds(20)); // b has been silent for long enough
    expect(story).toContain('+leader');

    end.abort();
    await forward(clock, seconds(4));
    expect(lease.spec('leader')?.holderIdentity).toBe('a');
    await forward(clock, seconds(1));
    await ended;

    expect(story.slice(-4)).toEqual(['-leader', '-server', '-Pod', '-health']);
    expect(lease.spec('leader')).not.toHaveProperty('holderIdentity');
  });

  test('a process that is told to end before its caches are full ends', async () => {
    const { clock, story, end, run } = processWith();
    const ended = run();
    await forward(clock, 0);
    end.abort();
    await ended;

    expect(story).toEqual(['+health', '+Pod', '-Pod', '-health']);
  });
});

describe('a part that fails', () => {
  test('ends the whole process, with its error, after all others have ended', async () => {
    const { clock, story, cache, server, run } = processWith();
    cache.fill();
    const ended = run();
    await forward(clock, 0);

    server.fail(new Error('port is taken'));

    await expect(ended).rejects.toThrow(new RunnableFailed('server', new Error('port is taken')));
    expect(story.slice(-3)).toEqual(['-leader', '-Pod', '-health']);
  });

  test('by ending although nobody asked it to has failed too', async () => {
    const { clock, manager, cache, run } = processWith();
    manager.addAlways({ name: 'short', run: async () => {} });
    cache.fill();
    const ended = run();
    const failure = failureOf(ended);
    await forward(clock, 0);
    expect(await failure).toHaveProperty('message', 'short: ended although nobody asked it to');
  });

  test('while the caches are still empty ends the wait for them', async () => {
    const { clock, manager, run } = processWith();
    manager.addBase({ name: 'broken', run: async () => Promise.reject(new Error('no')) });
    const failure = failureOf(run());
    await forward(clock, 0);
    expect(await failure).toHaveProperty('message', 'broken: no');
  });

  test('in the leader gives the lease back', async () => {
    const { clock, cache, leader, lease, run } = electedProcess();
    cache.fill();
    const failure = failureOf(run());
    await forward(clock, seconds(5));
    leader.fail(new Error('out of ideas'));
    await forward(clock, 0);
    expect(await failure).toHaveProperty('message', 'leader: out of ideas');

    expect(lease.spec('leader')).not.toHaveProperty('holderIdentity');
  });

  test('while it ends is logged, and the process ends well', async () => {
    const { clock, log, manager, cache, end, run } = processWith();
    manager.addAlways({
      name: 'clumsy',
      run: async (signal) => {
        await clock.sleep(hours(1), signal).catch(() => {});
        throw new Error('dropped it');
      },
    });
    cache.fill();
    const ended = run();
    await forward(clock, 0);
    end.abort();
    await ended;

    expect(log.lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
  });
});

test('a lost leadership ends the process: the leading parts are told and waited for', async () => {
  const { clock, story, cache, client, run } = electedProcess(seconds(3));
  cache.fill();
  const failure = failureOf(run());
  await forward(clock, seconds(5));
  client.network = 'down';
  await forward(clock, minutes(1));

  expect(await failure).toBeInstanceOf(RunnableFailed);
  expect(await failure).toHaveProperty('cause', expect.any(LeadershipLost));

  expect(story.slice(-4)).toEqual(['-leader', '-server', '-Pod', '-health']);
});

test('a part that does not end in time is named, and the process is not held by it', async () => {
  const { clock, cache, end, run } = processWith(hours(1));
  cache.fill();
  const failure = failureOf(run());
  await forward(clock, 0);
  end.abort();
  await forward(clock, seconds(25));

  expect(await failure).toEqual(
    new ShutdownTimeout(['health', 'cache of pods', 'server', 'leader']),
  );
});

test('checks can be added to what probes ask', async () => {
  const { clock, manager, cache, end, run, troubles } = processWith();
  manager.addReady('karpenter', () => 'the CRDs of Karpenter are missing (KPU201)');
  manager.addLive('loop', () => undefined);
  cache.fill();
  const ended = run();
  await forward(clock, 0);

  expect(await troubles()).toEqual(['the CRDs of Karpenter are missing (KPU201)']);
  expect(await findingsOf(manager.live, clock)).toEqual([{ name: 'loop', trouble: undefined }]);
  end.abort();
  await ended;
});

const times = {
  leaseDurationSeconds: 15,
  acquireTime: '2026-01-01T00:00:00.000000Z',
  renewTime: '2026-01-01T00:00:00.000000Z',
};
