import { expect, test } from 'vitest';

import type { ContainerState } from './container-worker.ts';
import { statusOf, type ContainerView, type PodView } from './pod-status.ts';

const before = '2026-01-01T00:00:00Z';
const now = '2026-01-01T00:01:00Z';
const running: ContainerState = { running: { startedAt: before } };
const waiting = (reason: string): ContainerState => ({ waiting: { reason } });
const ended = (exitCode: number): ContainerState => ({
  terminated: { exitCode, reason: 'x', startedAt: before, finishedAt: now },
});

function container(state: ContainerState, more: Partial<ContainerView> = {}): ContainerView {
  return {
    container: { name: 'main', image: 'app:1' },
    state,
    ready: state === running,
    restartCount: 0,
    ...more,
  };
}

function pod(view: Partial<PodView>) {
  return statusOf({
    init: [],
    containers: [container(running)],
    startTime: before,
    over: false,
    conditions: [],
    now,
    ...view,
  });
}

const ready = (view: Partial<PodView>) => pod(view).conditions.find(({ type }) => type === 'Ready');

test('a Pod whose containers are ready is Running and Ready', () => {
  expect(pod({}).phase).toBe('Running');
  expect(ready({})).toEqual({ type: 'Ready', status: 'True', lastTransitionTime: now });
});

test('a container that cannot be started keeps the Pod Pending', () => {
  expect(pod({ containers: [container(waiting('ErrImagePull'))] }).phase).toBe('Pending');
});

test('a container that crashed and waits belongs to a Pod that runs, and is not ready', () => {
  const containers = [container(waiting('CrashLoopBackOff'), { restartCount: 3 })];

  expect(pod({ containers }).phase).toBe('Running');
  expect(ready({ containers })).toMatchObject({
    status: 'False',
    reason: 'ContainersNotReady',
    message: 'containers with unready status: [main]',
  });
});

test('a Pod that is over Succeeded only when all its containers did', () => {
  const phase = (...codes: number[]) =>
    pod({ over: true, containers: codes.map((code) => container(ended(code))) }).phase;

  expect([phase(0, 0), phase(0, 1)]).toEqual(['Succeeded', 'Failed']);
});

test('a condition keeps the time of its last change', () => {
  const old = (status: 'True' | 'False') => [{ type: 'Ready', status, lastTransitionTime: before }];

  expect(ready({ conditions: old('True') })?.lastTransitionTime).toBe(before);
  expect(ready({ conditions: old('False') })?.lastTransitionTime).toBe(now);
});

test('init containers that have not succeeded are told of', () => {
  const initialized = (state: ContainerState) =>
    pod({ init: [container(state)] }).conditions.find(({ type }) => type === 'Initialized')?.status;

  expect([initialized(running), initialized(ended(1)), initialized(ended(0))]).toEqual([
    'False',
    'False',
    'True',
  ]);
});
