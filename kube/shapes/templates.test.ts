import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import fc from 'fast-check';
import { expect, test } from 'vitest';

import { written, type Fields } from '../testing/protobuf-writer.ts';
import { ShapeReader } from './shape-reader.ts';
import {
  at,
  dropped,
  list,
  message,
  nonZero,
  number,
  shared,
  template,
  text,
  texts,
  within,
  word,
} from './shape.ts';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;

interface Port {
  host?: number;
  inside?: number;
}

interface Part {
  name: string;
  ports?: readonly Port[];
  claim?: string;
  priority?: number;
  image?: string;
}

interface Plan {
  node?: string;
  parts?: readonly Part[];
  labels?: Record<string, string>;
  rules?: Record<string, string>;
  priority?: number;
  secret?: string;
}

interface Thing {
  name?: string;
  plan?: Plan;
}

const port = message<Port>({ inside: at(3, number), host: at(2, nonZero) }, 'host');
const part = message<Part>({
  name: at(1, word),
  ports: at(6, list(port)),
  claim: within(7, 2, text),
  priority: at(25, number),
  image: dropped,
});
const plan = message<Plan>({
  node: at(10, word),
  parts: at(2, list(part)),
  labels: at(7, texts()),
  rules: at(8, shared(texts())),
  priority: at(25, number),
  secret: dropped,
});
const shape = message<Thing>({
  name: at(1, text),
  plan: at(2, template(plan, { apart: 'node', holder: 'parts' })),
});

const portFields: Fields = { inside: [3, 'number'], host: [2, 'number'] };
const partFields: Fields = {
  name: [1, 'text'],
  ports: [6, { list: { fields: portFields } }],
  claim: [7, 2, 'text'],
  priority: [25, 'number'],
  image: [4, 'text'],
};
const planFields: Fields = {
  node: [10, 'text'],
  parts: [2, { list: { fields: partFields } }],
  labels: [7, { map: 'text' }],
  rules: [8, { map: 'text' }],
  priority: [25, 'number'],
  secret: [40, 'text'],
};
const fields: Fields = { name: [1, 'text'], plan: [2, { fields: planFields }] };

const bytesOf = (thing: object): Buffer => written(fields, thing);
const spanOfAll = (bytes: Buffer) => ({ bytes, from: 0, to: bytes.length });
const anyMap = fc.dictionary(fc.constantFrom('app', 'tier'), fc.constantFrom('', 'a', 'b'), {
  noNullPrototype: true,
});
const anyPort = fc.record({ host: fc.nat(1), inside: fc.nat(1) }, { requiredKeys: [] });
const anyPart = fc.record(
  {
    name: fc.constantFrom('web', 'proxy', 'x'.repeat(70)),
    ports: fc.array(anyPort, { maxLength: 2 }),
    claim: fc.constantFrom('', 'data-0', 'data-1'),
    priority: fc.nat(2),
    image: fc.constantFrom('a', 'b'),
  },
  { requiredKeys: ['name'] },
);
const anyPlan = fc.record(
  {
    node: fc.constantFrom('node-1', 'node-2'),
    parts: fc.array(anyPart, { minLength: 1, maxLength: 2 }),
    labels: anyMap,
    rules: anyMap,
    priority: fc.nat(2),
    secret: fc.constantFrom('one', 'two'),
  },
  { requiredKeys: ['parts'] },
);

test('whatever came before, of each the same is kept as from JSON, and in the same order', () => {
  const reader = new ShapeReader(shape);
  fc.assert(
    fc.property(fc.array(anyPlan, { maxLength: 10 }), (plans) => {
      for (const one of plans) {
        const kept = reader.fromProtobuf(spanOfAll(bytesOf({ plan: one })));
        const alone = new ShapeReader(shape).fromJson({ plan: one });
        expect(kept).toStrictEqual(alone);
        expect(Object.keys(kept.plan ?? {})).toEqual(Object.keys(alone.plan ?? {}));
        expect(reader.fromJson({ plan: one })).toStrictEqual(alone);
      }
    }),
    { numRuns: 100 },
  );
});

test('those that differ only in what is dropped are one, and those on a node have its parts', () => {
  const reader = new ShapeReader(shape);
  const read = (one: Plan): Plan | undefined =>
    reader.fromProtobuf(spanOfAll(bytesOf({ plan: one }))).plan;
  fc.assert(
    fc.property(anyPlan, ({ ...common }) => {
      delete common.node;
      const twin: Plan = {
        ...common,
        secret: 'another',
        parts: common.parts.map((one) => ({
          ...one,
          image: 'another',
          ports: [{ inside: 9, host: 0 }, ...(one.ports ?? [])],
        })),
      };
      const first = read(common);
      expect(read(twin)).toBe(first);
      const placed = read({ ...twin, node: 'node-3' });
      expect(placed).toEqual({ ...first, node: 'node-3' });
      expect(placed?.parts).toBe(first?.parts);
      expect(first).not.toHaveProperty('node');
    }),
  );
});

test('where a field stands makes a difference, even where all bytes but lengths are the same', () => {
  const reader = new ShapeReader(shape);
  const inner = { parts: [{ name: 'web', priority: 1 }] };
  const outer = { parts: [{ name: 'web' }], priority: 1 };
  for (const one of [inner, inner, outer, outer, inner])
    // what is met twice is known by its bytes
    expect(reader.fromProtobuf(spanOfAll(bytesOf({ plan: one })))).toEqual({ plan: one });
});

test('a template is known as long as anything made from it is there, and no longer', async () => {
  const reader = new ShapeReader(shape);
  const common = { parts: [{ name: 'web' }], priority: 1 };
  const read = (name: string, node?: string): Plan | undefined =>
    reader.fromProtobuf(spanOfAll(bytesOf({ name, plan: { ...common, ...(node && { node }) } })))
      .plan;
  const held = { one: read('one', 'node-1'), two: read('two', 'node-2') } as {
    one?: Plan | undefined;
    two?: Plan | undefined;
  };
  const parts = new WeakRef(held.two?.parts ?? {});
  delete held.one;
  await collected();
  expect(read('three')?.parts).toBe(held.two?.parts);
  await collected();
  expect(parts.deref()).toBe(held.two?.parts);
  delete held.two;
  await collected();
  expect(parts.deref()).toBeUndefined();
});

/** Weak references hold until the turn ends. */
async function collected(): Promise<void> {
  for (let i = 0; i < 2; i++) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await new Promise((resolve) => setImmediate(resolve));
    gc();
  }
}
