import fc from 'fast-check';
import { expect, test } from 'vitest';

import { addResources, exceeding, fits, maxResources, subtractResources } from './resources.ts';

const lists = fc.dictionary(
  fc.constantFrom('cpu', 'memory', 'pods', 'constructor'),
  fc.nat({ max: 10_000 }).map((count) => `${count}m`),
);

test('what two Pods ask for together, each in its own spelling', () => {
  expect(
    addResources({ cpu: '500m', memory: '1Gi' }, undefined, { cpu: '1.5', pods: '1' }),
  ).toEqual({
    cpu: '2',
    memory: '1Gi',
    pods: '1',
  });
});

test('what is left of a node may be less than nothing', () => {
  expect(subtractResources({ cpu: '2' }, { cpu: '2500m', memory: '1Mi' })).toEqual({
    cpu: '-500m',
    memory: '-1Mi',
  });
});

test('a resource that a node does not name is one it does not have', () => {
  expect(exceeding({ cpu: '1', 'nvidia.com/gpu': '1' }, { cpu: '1000m' })).toEqual([
    'nvidia.com/gpu',
  ]);
  expect(fits({ cpu: '1', 'nvidia.com/gpu': '0' }, { cpu: '1000m' })).toBe(true);
});

test('the largest of each', () => {
  expect(maxResources({ cpu: '1', memory: '1Gi' }, { cpu: '1500m', memory: '1000Mi' })).toEqual({
    cpu: '1500m',
    memory: '1Gi',
  });
});

test('taking away what was added leaves what was there', () => {
  fc.assert(
    fc.property(lists, lists, (a, b) => {
      const left = subtractResources(addResources(a, b), b);
      expect(exceeding(left, a)).toEqual([]);
      expect(exceeding(a, left)).toEqual([]);
    }),
  );
});

test('the sum and the maximum both hold each part', () => {
  fc.assert(
    fc.property(lists, lists, (a, b) => {
      expect(fits(a, addResources(a, b))).toBe(true);
      expect(fits(a, maxResources(a, b)) && fits(b, maxResources(a, b))).toBe(true);
      expect(fits(maxResources(a, b), addResources(a, b))).toBe(true);
    }),
  );
});
