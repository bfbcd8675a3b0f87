import { expect, test } from 'vitest';

import { formatProviderID, parseProviderID } from './provider-id.ts';

test('an instance is found again from what its Node says', () => {
  const where = { cloud: 'aws', region: 'eu-central-1', zone: 'eu-central-1a', id: 'i-0abc' };
  const text = formatProviderID(where);
  expect(text).toBe('unikraft://aws/eu-central-1/eu-central-1a/i-0abc');
  expect(parseProviderID(text)).toEqual(where);
});

test.each([
  '',
  'aws:///eu-central-1a/i-0abc',
  'unikraft://kraftlet-0',
  'unikraft://a/b/c/d/e',
  'unikraft://a//c/d',
])('"%s" is nobody of ours', (text) => {
  expect(parseProviderID(text)).toBeUndefined();
});
