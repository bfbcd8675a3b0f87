import { describe, expect, test } from 'vitest';

import type { Event } from '#schemas/kubernetes/core.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { ApiError } from '../client/errors.ts';
import { Metrics } from '../metrics.ts';
import { KubeEventRecorder, type EventRecorderOptions } from './event-recorder.ts';
import type { EventNote } from './events.ts';
import { EventSink } from './testing/event-sink.ts';
import { RecordingLogger } from './testing/fakes.ts';
import { pod } from './testing/objects.ts';
import { forward } from './testing/time.ts';

const node = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'web-3f2a91c0', uid: 'node-uid', resourceVersion: '12' },
};
const nominated = (message = 'Pod should schedule on: nodeclaim/web-abc'): EventNote => ({
  object: pod('web-0'),
  type: 'Normal',
  reason: 'Nominated',
  message,
});

function recording(options: Partial<EventRecorderOptions> = {}) {
  const clock = new FakeClock();
  const sink = new EventSink();
  const log = new RecordingLogger();
  const metrics = new Metrics();
  let count = 0;
  const recorder = new KubeEventRecorder({
    client: sink,
    clock,
    log,
    metrics,
    suffix: () => String((count += 1)),
    ...options,
  });
  return { clock, sink, log, metrics, recorder };
}

describe('an event', () => {
  test('says who saw what about which object, and when', async () => {
    const { recorder, sink } = recording();

    recorder.record(nominated());
    await recorder.flush();

    expect(sink.created).toEqual<Event[]>([
      {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: 'web-0.1', namespace: 'default' },
        involvedObject: {
          apiVersion: 'v1',
          kind: 'Pod',
          name: 'web-0',
          namespace: 'default',
          uid: 'uid-of-web-0',
          resourceVersion: '1',
        },
        type: 'Normal',
        reason: 'Nominated',
        message: 'Pod should schedule on: nodeclaim/web-abc',
        source: { component: 'karpenter-provider-unikraft' },
        reportingComponent: 'karpenter-provider-unikraft',
        firstTimestamp: '2026-01-01T00:00:00Z',
        lastTimestamp: '2026-01-01T00:00:00Z',
        count: 1,
      },
    ]);
  });

  test('about a cluster-scoped object lives in the namespace default', async () => {
    const { recorder, sink } = recording();

    recorder.record({ ...nominated(), object: node });
    await recorder.flush();

    expect(sink.created[0]?.metadata?.namespace).toBe('default');
    expect(sink.created[0]?.involvedObject).not.toHaveProperty('namespace');
  });

  test('keeps to the limits of the API server', async () => {
    const { recorder, sink } = recording({ suffix: () => '0123456789abcdef' });
    const name = `${'a'.repeat(235)}.${'b'.repeat(17)}`;

    recorder.record({ ...nominated('x'.repeat(5000)), object: pod(name) });
    await recorder.flush();

    expect(sink.created[0]?.metadata?.name).toBe(`${'a'.repeat(235)}.0123456789abcdef`);
    expect(sink.created[0]?.message).toHaveLength(1024);
    expect(sink.created[0]?.involvedObject.name).toBe(name);
  });

  test('of one second has a name that comes after those before it, as kubectl sorts them', async () => {
    const { recorder, sink, clock } = recording({ suffix: undefined });

    for (let count = 0; count < 5; count++) recorder.record(nominated(`${count}`));
    await clock.forward(1);
    recorder.record(nominated('later'));
    await recorder.flush();

    const names = sink.created.map(({ metadata }) => metadata?.name ?? '');
    expect(new Set(names).size).toBe(6);
    expect(names.toSorted()).toEqual(names);
    expect(names[0]).toMatch(/^web-0\.[0-9a-f]{16}$/);
  });

  test('about an object without a name or kind cannot be, and harms nothing', async () => {
    const { recorder, sink, log } = recording();

    recorder.record({ ...nominated(), object: { metadata: { name: 'what am I' } } });
    await recorder.flush();

    expect(sink.created).toEqual([]);
    expect(log.lines).toMatchObject([{ level: 'debug', facts: { why: 'nameless' } }]);
  });
});

describe('the same again', () => {
  test('is said once in two minutes, and anew after that', async () => {
    const { recorder, sink, clock, metrics } = recording();
    recorder.record(nominated());
    await forward(clock, minutes(1));
    recorder.record(nominated());
    await recorder.flush();
    expect(sink.created).toHaveLength(1);

    await forward(clock, minutes(1));
    recorder.record(nominated());
    await recorder.flush();

    expect(sink.created.map(({ metadata }) => metadata?.name)).toEqual(['web-0.1', 'web-0.2']);
    expect(await metrics.text()).toContain(
      'karpenter_unikraft_events_dropped_total{why="repeated"} 1',
    );
  });

  test('is what the note says: its own values, its own time', async () => {
    const { recorder, sink, clock } = recording();
    const waiting = (left: number): EventNote => ({
      ...nominated(`still waiting, ${left} left`),
      dedupeValues: [],
      dedupeTimeout: minutes(5),
    });
    recorder.record(waiting(3));
    await forward(clock, minutes(3));
    recorder.record(waiting(2));
    await recorder.flush();
    expect(sink.created).toHaveLength(1);

    await forward(clock, minutes(2));
    recorder.record(waiting(1));
    await recorder.flush();
    expect(sink.created).toHaveLength(2);
  });

  test('another object, reason or message is not the same', async () => {
    const { recorder, sink } = recording();
    for (const note of [
      nominated(),
      nominated('something else'),
      { ...nominated(), reason: 'Evicted' },
      { ...nominated(), object: node },
      { ...nominated(), object: pod('web-1') },
    ]) {
      recorder.record(note);
    }
    await recorder.flush();

    expect(sink.created).toHaveLength(5);
  });
});

describe('too much', () => {
  test('each reason has its own share, and what went over it may be said later', async () => {
    const { recorder, sink, clock } = recording({ rate: { perSecond: 1, burst: 2 } });
    for (let index = 0; index < 5; index++) recorder.record(nominated(`to ${index}`));
    recorder.record({ ...nominated(), reason: 'FailedScheduling' });
    await recorder.flush();
    expect(sink.created.map(({ reason, message }) => [reason, message])).toEqual([
      ['Nominated', 'to 0'],
      ['Nominated', 'to 1'],
      ['FailedScheduling', 'Pod should schedule on: nodeclaim/web-abc'],
    ]);

    await forward(clock, seconds(1));
    recorder.record(nominated('to 4'));
    await recorder.flush();
    expect(sink.created.at(-1)?.message).toBe('to 4');
  });

  test('an API server that hangs fills a bounded queue, and the end does not wait for it', async () => {
    const { recorder, sink, clock, log } = recording({ queueLimit: 3 });
    sink.hangs = true;
    const end = new AbortController();
    const ended = recorder.run(end.signal);
    for (let index = 0; index < 10; index++) recorder.record(nominated(`to ${index}`));
    await forward(clock, 0);

    end.abort();
    await forward(clock, seconds(5));
    await ended;

    expect(sink.asked).toBe(1);
    expect(log.lines.filter(({ level }) => level === 'warn')).toMatchObject([
      { facts: { left: 3 } },
      { message: 'an event could not be written' },
    ]);
  });
});

test('a refusal is logged and the next event goes out', async () => {
  const { recorder, sink, log } = recording();
  sink.refuseNext(new ApiError({ verb: 'POST', path: '/x' }, { code: 403 }, {}));

  recorder.record(nominated('one'));
  recorder.record(nominated('two'));
  await recorder.flush();

  expect(sink.created.map(({ message }) => message)).toEqual(['two']);
  expect(log.lines).toMatchObject([{ level: 'debug' }, { level: 'warn' }]);
});

test('the end of the process waits for what was said last', async () => {
  const { recorder, sink, clock } = recording();
  const end = new AbortController();
  const ended = recorder.run(end.signal);
  recorder.record(nominated());
  end.abort();
  await ended;

  expect(sink.created).toHaveLength(1);
  expect(clock.waiting).toBe(0);
});
