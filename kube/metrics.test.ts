import { expect, test } from 'vitest';

import { Metrics } from './metrics.ts';

test('asking twice for a name counts in one metric', async () => {
  const metrics = new Metrics();
  metrics.counter('tries_total', 'Tries.', ['kind']).inc({ kind: 'a' });
  metrics.counter('tries_total', 'Tries.', ['kind']).inc({ kind: 'a' });
  expect(await metrics.text()).toContain('tries_total{kind="a"} 2');
});

test('a name cannot be a counter here and a gauge there', () => {
  const metrics = new Metrics();
  metrics.counter('depth', 'Depth.');
  expect(() => metrics.gauge('depth', 'Depth.')).toThrow('metric depth already exists');
});

test('histograms take durations in seconds by default', async () => {
  const metrics = new Metrics();
  metrics.histogram('wait_seconds', 'Wait.').observe(0.3);
  expect(await metrics.text()).toContain('wait_seconds_bucket{le="0.5"} 1');
  expect(metrics.contentType).toContain('text/plain');
});

test('a sample is read when somebody looks, and is gone once taken out', async () => {
  const metrics = new Metrics();
  let size = 1;
  const remove = metrics.sample('objects', 'Objects.', { resource: 'pods' }, () => size);
  metrics.sample('objects', 'Objects.', { resource: 'nodes' }, () => 7);
  size = 3;
  expect(await metrics.text()).toMatch(
    /objects\{resource="pods"\} 3\nobjects\{resource="nodes"\} 7/,
  );
  remove();
  expect(await metrics.text()).not.toContain('pods');
});

test('two registries do not count each other’s work', async () => {
  const [one, other] = [new Metrics(), new Metrics()];
  one.counter('tries_total', 'Tries.').inc();
  expect(await other.text()).not.toContain('tries_total');
});
