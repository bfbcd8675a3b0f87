import fc from 'fast-check';
import { expect, test } from 'vitest';

import type { RecordSet } from './changes.ts';
import { textChanges } from './texts.ts';

const name = '_acme-challenge.machines.example.com';
const anyText = fc.constantFrom('a', 'b', 'c', 'd');
const anyWish = fc.record({ name: fc.constant(name), text: anyText, isThere: fc.boolean() });
const anyPresent = fc.record({
  texts: fc.uniqueArray(fc.constantFrom('"a"', '"b"', '"theirs" "in two"', '"c; d"')),
  hasAddress: fc.boolean(),
});

const address: RecordSet = { name, type: 'A', ttl: 60, values: ['192.0.2.1'] };

test('what is wished is so, all else stays, and a second time nothing is to be done', () => {
  fc.assert(
    fc.property(fc.array(anyWish), anyPresent, (wishes, { texts, hasAddress }) => {
      const set: RecordSet = { name, type: 'TXT', ttl: 7, values: texts };
      const before = [...(texts.length > 0 ? [set] : []), ...(hasAddress ? [address] : [])];
      const changes = textChanges(wishes, new Map([[name, before]]));

      // deleted is exactly what is there, and what is made is not there
      const deleted = changes.filter(({ action }) => action === 'delete');
      expect(deleted.every((one) => before.includes(one.set))).toBe(true);
      const rest = before.filter((one) => !deleted.some((change) => change.set === one));
      const created = changes.filter(({ action }) => action === 'create').map((one) => one.set);
      expect(created.some(({ type }) => rest.some((one) => one.type === type))).toBe(false);
      const after = [...rest, ...created];

      const last = new Map(wishes.map(({ text, isThere }) => [`"${text}"`, isThere]));
      const others = texts.filter((text) => !last.has(text));
      const ours = [...last].filter(([, isThere]) => isThere).map(([text]) => text);
      const left = after.filter(({ type }) => type === 'TXT').flatMap(({ values }) => values);
      expect(left.toSorted()).toEqual([...others, ...ours].toSorted());
      expect(after.includes(address)).toBe(hasAddress);
      expect(after.every(({ values }) => values.length > 0)).toBe(true);
      expect(textChanges(wishes, new Map([[name, after]]))).toEqual([]);
    }),
  );
});
