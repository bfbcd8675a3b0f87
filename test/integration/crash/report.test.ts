import { expect, test } from 'vitest';

import { reportOf, tellLeft, tellStopped } from '#test/crash/report.ts';
import type { Outcome } from '#test/crash/tally.ts';

const clean: Outcome = {
  cloud: 'aws',
  variant: 'changed',
  cases: 100,
  crashes: 5,
  machines: 60,
  launched: 60,
  doubled: [],
  stuck: [],
  stopped: 96,
  double: 8,
  once: ['launch: route53: POST rrset, after; route53: *, before'],
  unmet: [],
  notSeen: ['a', 'b', 'c'],
  leaks: {
    instances: 0,
    volumes: 0,
    addresses: 0,
    records: 0,
    texts: 0,
    secrets: 0,
    nodes: 0,
    releases: 0,
    stuckPods: 0,
    reservations: 0,
    processes: 0,
  },
  collected: 0,
  seconds: 300,
};
const missedOf = (changes: Partial<Outcome>) =>
  reportOf(new Map(), [{ ...clean, ...changes }], 2)
    .bars.filter(({ ok }) => !ok)
    .map(({ what }) => what);

test('nothing left and nearly all stopped is well', () => {
  expect(reportOf(new Map(), [clean], 2)).toMatchObject({ ok: true, cases: 100 });
});

test('each kind that is left has a bar of its own', () => {
  for (const kind of Object.keys(clean.leaks))
    expect(missedOf({ leaks: { ...clean.leaks, [kind]: 1 } })).toHaveLength(1);
  expect(missedOf({ leaks: { ...clean.leaks, texts: 2 } })).toEqual([
    'aws, changed: left behind, TXT',
  ]);
});

test('too few cases that were stopped, or any that nobody played, is not', () => {
  const notSeen = Array.from({ length: 9 }, (_, index) => String(index));
  expect(missedOf({ stopped: 90, notSeen })).toEqual(['aws, changed: stopped of 99 cases']);
  expect(missedOf({ stopped: 95 })).toEqual(['aws, changed: cases that were not played']);
  const once = ['1', '2', '3', '4', '5'];
  expect(missedOf({ once, stopped: 92 })).toEqual(['aws, changed: stopped twice of 8']);
});

test('what is left is told as a table, and what was not stopped by name', () => {
  const [head = '', row = ''] = tellLeft([{ ...clean, leaks: { ...clean.leaks, texts: 3 } }]);
  expect(row[head.indexOf('TXT') + 'TXT'.length - 1]).toBe('3');
  expect(head).toHaveLength(row.length);
  expect(tellStopped([clean])).toEqual([
    'aws, changed: 96 of 100 cases stopped, 1 with nothing to stop at a second time',
    '  not stopped: a',
    '  not stopped: b',
    '  not stopped: c',
  ]);
});
