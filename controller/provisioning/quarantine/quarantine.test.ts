import { beforeEach, expect, test } from 'vitest';

import { hours, minutes } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { Quarantine, type Verdict } from './quarantine.ts';

let clock: FakeClock;
let quarantine: Quarantine;
beforeEach(() => {
  clock = new FakeClock();
  quarantine = new Quarantine(clock);
});

/** Each letter is a group. */
const groupsIn = (text: string): string[] => text.split('');

/** One pass, and who took part in it. */
function pass(present: string, isBad: (group: string) => boolean = isPoison): string {
  const admitted = [...quarantine.admit(groupsIn(present))].toSorted();
  if (admitted.some(isBad)) quarantine.failed('bad');
  else if (admitted.length > 0) quarantine.succeeded();
  return admitted.join('');
}

const isPoison = (group: string): boolean => 'XYZ'.includes(group);
const passes = (count: number, present: string): string[] =>
  Array.from({ length: count }, () => pass(present));

test('one of eight is found by halving, and the others go on', () => {
  expect(passes(6, 'abcdeXfg')).toEqual([
    'Xabcdefg',
    'abcd',
    'Xabcde',
    'abcde',
    'Xabcde',
    'abcdefg',
  ]);
  expect(quarantine.isSearching).toBe(false);
  expect(pass('abcdeXfg')).toBe('abcdefg');
});

test('a single failure sets nobody aside, not even one that is alone', () => {
  quarantine.admit(['a']);
  expect(quarantine.failed('out of memory')).toEqual({ kind: 'searching' });
  expect(passes(2, 'a')).toEqual(['a', 'a']);
  expect(quarantine.isSearching).toBe(false);
});

test('who comes during a search is held back until it is over', () => {
  expect(pass('abX')).toBe('Xab');
  expect(pass('abXYc')).toBe('ab');
  expect(pass('abXYc')).toBe('Xab');
  expect(pass('abXYc')).toBe('Yabc');
});

test('a suspect that goes away ends the search without anybody set aside', () => {
  passes(2, 'abX');
  expect(pass('ab')).toBe('ab');
  expect(quarantine.isSearching).toBe(false);
});

test.each([1, 2])('nothing is sought any more when all have gone away after pass %i', (count) => {
  passes(count, 'abX');
  expect(quarantine.isSearching).toBe(true);
  expect(pass('')).toBe('');
  expect(quarantine.isSearching).toBe(false);
});

test('it is tried again after 10 minutes, 20, 40, … and each 4 hours in the end, with all others', async () => {
  passes(5, 'aX');
  const pauses: number[] = [];
  for (let turn = 0; turn < 7; turn++) {
    const { pause, until } = quarantine.asideOf('X')!;
    pauses.push(pause / minutes(1));
    // oxlint-disable-next-line no-await-in-loop -- one rest after the other
    await clock.forward(until - clock.now() - 1);
    expect(pass('aX')).toBe('a');
    // oxlint-disable-next-line no-await-in-loop
    await clock.forward(1);
    expect(passes(3, 'aX')).toEqual(['Xa', 'a', 'a']);
  }
  expect(pauses).toEqual([10, 20, 40, 80, 160, 240, 240]);
});

test('one that has rested and fails no more is like all others, and begins with 10 minutes again', async () => {
  passes(5, 'aX');
  await clock.forward(minutes(10));
  expect(pass('aX', () => false)).toBe('Xa');
  expect(quarantine.asideOf('X')).toBeUndefined();
  passes(5, 'aX');
  expect(quarantine.asideOf('X')?.pause).toBe(minutes(10));
});

test('a group that was gone for hours begins anew', async () => {
  passes(5, 'aX');
  await clock.forward(hours(5));
  pass('a');
  expect(passes(4, 'aX')).toEqual(['Xa', 'a', 'Xa', 'a']);
});

test('where every pass fails three are set aside and released, and then nobody is', () => {
  const kinds: Verdict['kind'][] = [];
  for (let turn = 0; turn < 60; turn++) {
    quarantine.admit(groupsIn('abcdefgh'));
    kinds.push(quarantine.failed('always').kind);
  }
  expect(kinds.filter((kind) => kind === 'aside')).toHaveLength(2);
  expect(kinds.filter((kind) => kind === 'notThePods').length).toBeGreaterThan(3);
  expect(quarantine.isLost).toBe(true);
  expect(groupsIn('abcdefgh').filter((group) => quarantine.asideOf(group))).toEqual([]);
  pass('abcdefgh');
  expect(quarantine.isLost).toBe(false);
});

test('cleared groups that fail by now are no reason to blame more than three others', () => {
  const all = 'abcdefghijX';
  pass(all);
  expect(pass(all)).toBe('abcdef');
  const kinds: Verdict['kind'][] = [];
  while (kinds.at(-1) !== 'notThePods' && kinds.length < 40) {
    quarantine.admit(groupsIn(all));
    kinds.push(quarantine.failed('now all').kind);
  }
  expect(kinds.at(-1)).toBe('notThePods');
  expect(kinds.filter((kind) => kind === 'aside')).toHaveLength(3);
  expect(groupsIn(all).filter((group) => quarantine.asideOf(group))).toEqual([]);
});
