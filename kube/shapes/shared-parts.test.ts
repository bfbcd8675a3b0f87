import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import fc from 'fast-check';
import { expect, test } from 'vitest';

import { hashOf } from './hash.ts';
import { SharedParts } from './shared-parts.ts';
import { spanOf } from './wire.ts';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;

/** Weak references hold until the turn ends. */
async function collected(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  gc();
}

const share = (parts: SharedParts, value: object): object => {
  const { bytes, from, to } = spanOf(JSON.stringify(value));
  return parts.find(bytes, from, to) ?? parts.add(structuredClone(value));
};

test('equal parts are one object, however often they come', () => {
  const parts = new SharedParts();
  const labels = { app: 'web' };
  const first = share(parts, labels);
  expect(share(parts, labels)).toBe(first);
  expect(share(parts, labels)).toBe(first);
  expect(share(parts, { app: 'db' })).not.toBe(first);
});

test('whatever comes in whatever order, each part is what was written', () => {
  const parts = new SharedParts();
  const value = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('x', 'y', ''));
  fc.assert(
    fc.property(fc.array(value, { maxLength: 50 }), (values) => {
      for (const one of values) expect(share(parts, one)).toEqual(one);
    }),
  );
});

test('two writings that meet at one number do not become one part', () => {
  const [one, other] = meeting();
  const parts = new SharedParts();
  for (let round = 0; round < 3; round++) {
    expect(share(parts, one)).toEqual(one);
    expect(share(parts, other)).toEqual(other);
  }
});

test('of what nobody has any more nothing stays, and of what somebody has everything', async () => {
  const step = fc.record({ place: fc.nat(9), value: fc.nat(30) });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
      const parts = new SharedParts();
      const held = new Map<number, object>();
      const seen = steps.map(({ place, value }) => {
        const part = share(parts, { value });
        held.set(place, part);
        return { value, part: new WeakRef(part) };
      });
      await collected();
      const alive = new Set([...held.values()].map((part) => JSON.stringify(part)));
      for (const { value, part } of seen)
        expect(part.deref() !== undefined).toBe(alive.has(JSON.stringify({ value })));
      for (const part of held.values()) expect(share(parts, structuredClone(part))).toBe(part);
    }),
    { numRuns: 12 },
  );
}, 20_000);

test('references to what is gone do not add up', async () => {
  const parts = new SharedParts();
  for (let round = 0; round < 5; round++) {
    for (let i = 0; i < 1000; i++) share(parts, { round, i });
    // oxlint-disable-next-line no-await-in-loop -- one round after the other
    await collected();
  }
  expect(parts.size).toBeLessThanOrEqual(1024);
});

/** Of a million writings some meet at one of 2^32 numbers. */
function meeting(): [object, object] {
  const seen = new Map<number, object>();
  for (let i = 0; i < 1_000_000; i++) {
    const value = { i };
    const { bytes, from, to } = spanOf(JSON.stringify(value));
    const hash = hashOf(bytes, from, to);
    const other = seen.get(hash);
    if (other) return [other, value];
    seen.set(hash, value);
  }
  throw new Error('no two meet');
}
