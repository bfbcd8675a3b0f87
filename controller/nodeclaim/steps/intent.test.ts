import fc from 'fast-check';
import { expect, test } from 'vitest';

import { annotations } from '#schemas/names.ts';

import { nodeClaim } from '../../testing/objects.ts';
import { intentOf, intentText, type Intent } from './intent.ts';

const intent: Intent = {
  attempt: 2,
  instanceType: 'm8i.large',
  zone: 'eu-central-1a',
  subnet: 'subnet-a',
  metal: false,
  since: '2026-01-01T00:00:00Z',
};
const carrying = (text: string) =>
  nodeClaim('web-1', { metadata: { annotations: { [annotations.intent]: text } } });

test('an intent is read as it was written', () => {
  expect(intentOf(carrying(intentText(intent)))).toEqual(intent);
});

test('equal intents are equal texts, in whatever order they were put together', () => {
  const turned = Object.fromEntries(Object.entries(intent).toReversed()) as unknown as Intent;
  expect(intentText(turned)).toBe(intentText(intent));
});

test('a claim without the annotation has none', () => {
  expect(intentOf(nodeClaim('web-1'))).toBeUndefined();
});

test.each([
  '',
  '{',
  'null',
  '7',
  '[]',
  '{}',
  JSON.stringify({ ...intent, attempt: 0 }),
  JSON.stringify({ ...intent, attempt: 1.5 }),
  JSON.stringify({ ...intent, attempt: '1' }),
  JSON.stringify({ ...intent, zone: '' }),
  JSON.stringify({ ...intent, subnet: undefined }),
  JSON.stringify({ ...intent, metal: 'no' }),
  JSON.stringify({ ...intent, since: 'yesterday' }),
])('%s is no intent', (text) => {
  expect(intentOf(carrying(text))).toBeUndefined();
});

test('no text at all makes reading fail', () => {
  const texts = fc.oneof(fc.string(), fc.json());
  const read = (text: string): boolean => intentOf(carrying(text)) === undefined;
  expect(() => fc.assert(fc.property(texts, read))).not.toThrow();
});
