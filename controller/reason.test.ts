import fc from 'fast-check';
import { expect, test } from 'vitest';

import { asReason, coded } from './reason.ts';

const pattern = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;

test.each([
  ['ImageNotFound', 'ImageNotFound'],
  ['InvalidSubnetID.NotFound', 'InvalidSubnetIDNotFound'],
  ['400: bad', 'bad'],
  ['', 'Unknown'],
  ['…', 'Unknown'],
])('%j is told as %s', (code, reason) => {
  expect(asReason(code)).toBe(reason);
});

test('whatever a cloud calls its error, a status that carries it is taken', () => {
  const code = fc.oneof(fc.string(), fc.stringMatching(/^[A-Za-z0-9_,:. -]*$/));
  fc.assert(
    fc.property(code, (text) => {
      expect(asReason(text)).toMatch(pattern);
    }),
  );
});

test.each([
  ['No subnet matches', 'No subnet matches (KPU230)'],
  ['No subnet matches; tag one.', 'No subnet matches; tag one (KPU230)'],
  ['Helm says: not so fast...', 'Helm says: not so fast (KPU230)'],
])('%j ends in its code and no stop', (sentence, told) => {
  expect(coded(sentence, 'KPU230')).toBe(told);
});
