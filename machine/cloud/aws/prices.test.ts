import { expect, test } from 'vitest';

import { familyOf, priceOf } from './prices.ts';

test('a published price is told as such, with its day', () => {
  expect(priceOf('m7i.xlarge', 'us-east-1')).toEqual({
    perHour: 0.2016,
    basis: 'table',
    asOf: '2026-07-20',
  });
  expect(priceOf('m7i.xlarge', 'eu-central-1')).toMatchObject({
    basis: 'table',
    asOf: '2025-05-28',
  });
});

test('a price that follows from a rule stays marked', () => {
  expect(priceOf('m8i.large', 'eu-central-1')).toMatchObject({ basis: 'derived', asOf: '2026-04' });
  expect(priceOf('r8i.large', 'eu-central-1')).toMatchObject({ basis: 'catalogue' });
});

test('a region without a table has the reference region’s numbers, marked', () => {
  expect(priceOf('m7i.xlarge', 'eu-west-3')).toMatchObject({
    perHour: 0.2016,
    basis: 'other region',
  });
});

test('a size without a price is unknown, not free', () => {
  expect(priceOf('r9g.metal-48xl', 'us-east-1')).toBeUndefined();
  expect(priceOf('r9g.metal-48xl', 'eu-west-3')).toBeUndefined();
});

test('a family is what stands before the dot', () => {
  expect(familyOf('m8i-flex.2xlarge')).toBe('m8i-flex');
  expect(familyOf('x8i.metal-96xl')).toBe('x8i');
});
