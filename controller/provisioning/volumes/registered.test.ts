import { describe, expect, test } from 'vitest';

import type { KraftletSpec, UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';

import { driversOfRevision, registeredDrivers } from './registered.ts';

const specWith = (values?: KraftletSpec['values']) =>
  ({ kraftlet: values ? { values } : {} }) as UnikraftNodeClassSpec;

describe('drivers that Kraftlet is told of', () => {
  test('are the names in csi.plugins', () => {
    const plugins = { 'efs.csi.aws.com': '/csi/csi.sock', 'ebs.csi.aws.com': 'ebs.storage:9000' };
    expect(registeredDrivers(specWith({ csi: { plugins } }))).toEqual([
      'ebs.csi.aws.com',
      'efs.csi.aws.com',
    ]);
  });

  test.each([
    ['no values', undefined],
    ['other values', { resources: {} }],
    ['csi without plugins', { csi: { healthCheckInterval: '10s' } }],
    ['a list', { csi: { plugins: ['ebs.csi.aws.com'] } }],
    ['a text', { csi: 'ebs.csi.aws.com' }],
    ['null', { csi: { plugins: null } }],
    ['an address that is taken back', { csi: { plugins: { 'ebs.csi.aws.com': null } } }],
  ])('are none with %s', (_, values) => {
    expect(registeredDrivers(specWith(values))).toEqual([]);
  });
});

test('a revision that is gone, or that holds something else, has none', () => {
  expect(driversOfRevision(undefined)).toEqual([]);
  expect(driversOfRevision({ metadata: { name: 'x' }, revision: 1, data: {} })).toEqual([]);
});
