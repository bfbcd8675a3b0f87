import { expect, test } from 'vitest';

import type { Taint, Toleration } from '#schemas/kubernetes/core.ts';

import { tolerates, untolerated } from './taints.ts';

const taint: Taint = { key: 'sla', value: '950', effect: 'NoSchedule' };

test.each([
  [{ operator: 'Exists' }, true],
  [{ operator: 'Exists', effect: 'NoExecute' }, false],
  [{ key: 'sla', operator: 'Exists' }, true],
  [{ key: 'sla', value: '950' }, true],
  [{ key: 'sla', value: '95' }, false],
  [{ key: 'sla' }, false],
  [{ value: '950' }, false],
  [{ key: 'sla', operator: 'Gt', value: '900' }, true],
  [{ key: 'sla', operator: 'Gt', value: '950' }, false],
  [{ key: 'sla', operator: 'Lt', value: '1000' }, true],
  [{ key: 'sla', operator: 'Lt', value: 'many' }, false],
  [{ key: 'other', operator: 'Exists' }, false],
] satisfies [Toleration, boolean][])(
  '%j tolerates sla=950:NoSchedule: %s',
  (toleration, expected) => {
    expect(tolerates(toleration, taint)).toBe(expected);
  },
);

test.each([
  ['9223372036854775806', true],
  ['9223372036854775807', false],
  ['99999999999999999999', false],
])(
  'numbers end where 64 bits end: a taint of 9223372036854775807 is more than %s: %s',
  (value, expected) => {
    const largest: Taint = { key: 'sla', value: '9223372036854775807', effect: 'NoSchedule' };
    const beyond: Taint = { ...largest, value: '9223372036854775808' };
    expect(tolerates({ key: 'sla', operator: 'Gt', value }, largest)).toBe(expected);
    expect(tolerates({ key: 'sla', operator: 'Gt', value }, beyond)).toBe(false);
  },
);

test('a taint that only prefers keeps nobody off', () => {
  expect(untolerated([{ key: 'a', effect: 'PreferNoSchedule' }, taint], [])).toBe(taint);
  expect(untolerated([{ key: 'a', effect: 'PreferNoSchedule' }], undefined)).toBeUndefined();
});
