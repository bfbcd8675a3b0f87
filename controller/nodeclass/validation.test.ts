import { expect, test } from 'vitest';

import type { UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';

import { nodeClass } from '../testing/objects.ts';
import { mistakesOf } from './validation.ts';

test('an ordinary node class has no mistakes', () => {
  expect(mistakesOf(nodeClass())).toEqual([]);
});

const passes: [what: string, spec: Partial<UnikraftNodeClassSpec>, path: string][] = [
  ['no cloud', { aws: undefined } as never, 'spec: give either aws or gcp'],
  ['no image', { image: {} }, 'spec.image: give either'],
  [
    'a deadline that is over at once',
    { deadlines: { launch: '0s' } },
    'spec.deadlines.launch: "0s" is no time at all',
  ],
  [
    'a certificate for no time',
    { certificate: { api: { mode: 'PrivateCA', duration: '0h0m' } } },
    'spec.certificate.api.duration: "0h0m" is no time at all',
  ],
  [
    'more overhead than there is memory in the world',
    { platform: { overhead: { memory: `${'9'.repeat(30)}Ti` } } },
    'spec.platform.overhead.memory: "999999999999999999999999999999Ti" is more than any machine',
  ],
  [
    'an amount that is none',
    { platform: { capacity: { memory: '1e1.5' } } },
    'spec.platform.capacity.memory: "1e1.5" is no quantity',
  ],
];

test.each(passes)('%s is found, with its place', (_, spec, mistake) => {
  expect(mistakesOf(nodeClass(spec)).filter((one) => one.startsWith(mistake))).toHaveLength(1);
});

test('a name that is too long for a label is found', () => {
  expect(mistakesOf(nodeClass({}, 'x'.repeat(64)))).toEqual([
    'metadata.name: has 64 characters; Nodes carry it as a label, so use at most 63',
  ]);
});
