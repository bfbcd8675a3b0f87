import fc from 'fast-check';
import { expect, test } from 'vitest';

import { items, list, MalformedXml, readXml, textOf, xmlDocument } from './xml.ts';

test('what is written reads back, whatever characters it holds', () => {
  // XML cannot carry control characters, and outer white space is not kept
  const text = fc.string({ unit: 'grapheme' }).map((raw) => raw.replaceAll(/\p{Cc}/gu, '').trim());
  fc.assert(
    fc.property(fc.array(text), (values) => {
      const root = readXml(xmlDocument('Answer', { name: 'x', set: items(values) }, 'urn:x'));
      expect(list(root, 'set').map((one) => one.text.trim())).toEqual(values);
      expect(textOf(root, 'name')).toBe('x');
    }),
  );
});

test('an absent value leaves no element, an empty list an empty one', () => {
  expect(xmlDocument('A', { gone: undefined, none: items([]), zero: 0 }, 'urn:x')).toMatch(
    /<A xmlns="urn:x"><none><\/none><zero>0<\/zero><\/A>$/,
  );
});

test('numeric and named entities are read', () => {
  expect(readXml('<a>&quot;&#x2A;&#42;&amp;lt;</a>').text).toBe('"**&lt;');
});

test.each(['<a><b></a>', '<a>', 'nothing'])('%s is refused', (document) => {
  expect(() => readXml(document)).toThrow(MalformedXml);
});
