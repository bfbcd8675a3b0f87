import fc from 'fast-check';
import { expect, test } from 'vitest';

import { cleanup } from './cleanup.ts';
import type { Failure, Leftover, Place } from './place.ts';
import { tables } from './table.ts';

const signal = new AbortController().signal;

/** A place that holds ids; what is in `stuck` stays, and an `unreadable` one has no list. */
class Shelf implements Place {
  readonly name: string;
  readonly ids: Set<string>;
  readonly #stuck: ReadonlySet<string>;
  readonly #isUnreadable: boolean;

  constructor(
    name: string,
    ids: readonly string[],
    { stuck = [], unreadable = false }: { stuck?: readonly string[]; unreadable?: boolean } = {},
  ) {
    this.name = name;
    this.ids = new Set(ids);
    this.#stuck = new Set(stuck);
    this.#isUnreadable = unreadable;
  }

  async list(): Promise<Leftover[]> {
    if (this.#isUnreadable) throw new Error('it is dark');
    return [...this.ids].map((id) => ({ kind: 'volume', id, facts: { zone: this.name } }));
  }

  async remove(shown: readonly Leftover[]): Promise<Failure[]> {
    const wanted = shown.filter(({ id }) => this.ids.has(id));
    const failed = wanted.filter(({ id }) => this.#stuck.has(id));
    for (const { id } of wanted) if (!this.#stuck.has(id)) this.ids.delete(id);
    return failed.map(({ id }) => ({ id, why: 'it is stuck' }));
  }
}

async function clean(places: readonly Place[], confirmed = true) {
  const said: string[] = [];
  let asked = 0;
  const confirm = async (): Promise<boolean> => {
    asked += 1;
    return confirmed;
  };
  const say = (text: string): unknown => said.push(text);
  const done = await cleanup({ clusterUid: 'c', places, confirm, say }, signal);
  return { done, said: said.join('\n'), asked };
}

test('what is left is shown, and stays unless it is confirmed', async () => {
  const shelf = new Shelf('volumes', ['a', 'b']);

  expect(await clean([shelf], false)).toEqual({
    done: true,
    asked: 1,
    said: 'Left of cluster c:\n\nVOLUME   ZONE\na        volumes\nb        volumes\n\nNothing was removed.',
  });
  expect([...shelf.ids]).toEqual(['a', 'b']);
});

test('nobody is asked where nothing is left', async () => {
  expect(await clean([new Shelf('volumes', [])])).toMatchObject({ done: true, asked: 0 });
});

test('one place that cannot be read keeps all of them as they are, and nobody is asked', async () => {
  const [first, last] = [new Shelf('names', ['a']), new Shelf('volumes', ['v'])];
  const { done, said, asked } = await clean([
    first,
    new Shelf('instances', [], { unreadable: true }),
    last,
  ]);

  expect({ done, asked }).toEqual({ done: false, asked: 0 });
  expect(said).toBe('The instances could not be read: it is dark\nNothing was removed. (KPU601)');
  expect([...first.ids, ...last.ids]).toEqual(['a', 'v']);
});

test('whatever is stuck, places are emptied in order up to it, and once it is free the command ends the work', async () => {
  const places = fc.array(fc.record({ count: fc.nat({ max: 4 }), stuck: fc.nat({ max: 4 }) }), {
    minLength: 1,
    maxLength: 4,
  });
  await fc.assert(
    fc.asyncProperty(places, async (shapes) => {
      const idsOf = (count: number, place: number) =>
        Array.from({ length: count }, (_, index) => `${place}-${index}`);
      const shelves = shapes.map(({ count, stuck }, index) => {
        const ids = idsOf(count, index);
        return new Shelf(`place ${index}`, ids, { stuck: ids.slice(0, stuck) });
      });
      const stop = shapes.findIndex(({ count, stuck }) => Math.min(count, stuck) > 0);

      const { done, said } = await clean(shelves);

      expect(done).toBe(stop === -1);
      expect(said.includes('KPU602')).toBe(stop !== -1);
      const expected = shapes.map(({ count, stuck }, index) => {
        if (stop === -1 || index < stop) return [];
        return index === stop ? idsOf(Math.min(count, stuck), index) : idsOf(count, index);
      });
      expect(shelves.map(({ ids }) => [...ids])).toEqual(expected);

      const freed = shelves.map(({ name, ids }) => new Shelf(name, [...ids]));
      expect((await clean(freed)).done).toBe(true);
      expect(freed.flatMap(({ ids }) => [...ids])).toEqual([]);
    }),
  );
});

test('a place that breaks while it is emptied tells so for each of its things', async () => {
  const shelf = new Shelf('volumes', ['a']);
  shelf.remove = async () => {
    throw Object.assign(new Error('the line went dead'), { code: 'KPU314' });
  };
  const { done, said } = await clean([shelf]);
  expect(done).toBe(false);
  expect(said).toContain('a is still there: the line went dead (KPU314)');
});

test('each kind has a table of its own, as kubectl prints them', () => {
  expect(
    tables([
      { kind: 'instance', id: 'i-1', facts: { type: 'm7i.large', claim: undefined } },
      { kind: 'volume', id: 'vol-1', facts: { state: 'available' } },
      { kind: 'instance', id: 'i-22', facts: { type: 'c8i.large', claim: 'web-1' } },
    ]),
  ).toBe(
    [
      'INSTANCE   TYPE        CLAIM',
      'i-1        m7i.large   <none>',
      'i-22       c8i.large   web-1',
      '',
      'VOLUME   STATE',
      'vol-1    available',
    ].join('\n'),
  );
  expect(tables([])).toBe('');
});

test('no line ends in blanks', () => {
  const facts = { a: 'long enough', b: 'b' };
  const text = tables([{ kind: 'name', id: 'n', facts }]);
  expect(text).not.toMatch(/ $/m);
});
