import fc from 'fast-check';
import { expect, test } from 'vitest';

import type { KubeObject, Live } from '#schemas/kubernetes/meta.ts';

import { keyOf, Store } from './store.ts';

interface Thing extends KubeObject {
  node?: string;
}

let version = 0;

function thing(name: string, uid = `${name}-1`, node = 'n1'): Live<Thing> {
  version += 1;
  return { metadata: { namespace: 'x', name, uid, resourceVersion: String(version) }, node };
}

function storeThatTells() {
  const told: string[] = [];
  const say = (what: string) => (object: Live<Thing>) => {
    told.push(`${what} ${object.metadata.name} ${object.metadata.uid}`);
  };
  const broken: string[] = [];
  const listener = { add: say('add'), update: say('update'), delete: say('delete') };
  const store = new Store<Thing>(listener, (index) => broken.push(index));
  store.addIndex('node', ({ node }) => (node === undefined ? [] : [node]));
  return { store, told, broken };
}

const state = (...things: Live<Thing>[]) => new Map(things.map((each) => [keyOf(each), each]));

test('an object that comes with another UID is a deletion and a creation', () => {
  const { store, told } = storeThatTells();
  store.put(thing('a', 'first'));
  store.put(thing('a', 'second'));
  expect(told).toEqual(['add a first', 'delete a first', 'add a second']);
});

test('an object that comes again unchanged is nothing', () => {
  const { store, told } = storeThatTells();
  const a = thing('a');
  store.put(a);
  store.put(structuredClone(a));
  expect(told).toEqual(['add a a-1']);
});

test('a full state tells what was missed, and only that', async () => {
  const { store, told } = storeThatTells();
  const kept = thing('kept');
  await store.replace(state(kept, thing('gone'), thing('changed')));
  told.length = 0;
  await store.replace(state(thing('new'), kept, thing('changed')));
  expect(told).toEqual(['delete gone gone-1', 'add new new-1', 'update changed changed-1']);
});

test('a deletion hands out the object as it was last', () => {
  const seen: (string | undefined)[] = [];
  const listener = {
    add() {},
    update() {},
    delete: (object: Live<Thing>) => seen.push(object.node),
  };
  const store = new Store<Thing>(listener, () => {});
  store.put(thing('a', 'u', 'n1'));
  store.remove(thing('a', 'u', 'n2'));
  store.remove(thing('never-seen'));
  expect(seen).toEqual(['n2']);
});

test('an index that is added late knows what is there', () => {
  const { store } = storeThatTells();
  store.put(thing('a'));
  store.addIndex('uid', ({ metadata }) => [metadata.uid]);
  expect(store.by('uid', 'a-1').map(keyOf)).toEqual(['x/a']);
  expect(() => store.by('colour', 'red')).toThrow('there is no index colour');
  expect(() => store.addIndex('uid', () => [])).toThrow('exists already');
});

test('an index function that throws hides its object from that index alone', () => {
  const { store, broken } = storeThatTells();
  store.addIndex('bad', () => {
    throw new Error('no');
  });
  store.put(thing('a'));
  expect(broken).toEqual(['bad']);
  expect(store.by('bad', 'x')).toEqual([]);
  expect(store.by('node', 'n1')).toHaveLength(1);
});

test('a large state lets others have their turn while it is told', async () => {
  const { store, told } = storeThatTells();
  const seen: number[] = [];
  const look = (): void => {
    seen.push(told.length);
    if (told.length < 2000) setImmediate(look);
  };
  setImmediate(look);
  await store.replace(state(...Array.from({ length: 2000 }, (_, index) => thing(`p-${index}`))));
  expect(told).toHaveLength(2000);
  expect(seen.filter((count) => count > 0 && count < 2000).length).toBeGreaterThanOrEqual(2);
});

test('whatever happens, an index finds exactly what a search would', async () => {
  const names = fc.constantFrom('a', 'b', 'c');
  const objects = fc.record({ name: names, uid: fc.constantFrom('1', '2'), node: names });
  const step = fc.oneof(
    fc.record({ put: objects }),
    fc.record({ remove: objects }),
    fc.record({ replace: fc.array(objects, { maxLength: 3 }) }),
  );
  const made = ({ name, uid, node }: { name: string; uid: string; node: string }) =>
    thing(name, uid, node);
  await fc.assert(
    fc.asyncProperty(fc.array(step), async (steps) => {
      const { store } = storeThatTells();
      for (const each of steps) {
        if ('put' in each) store.put(made(each.put));
        else if ('remove' in each) store.remove(made(each.remove));
        else await store.replace(state(...each.replace.map(made))); // oxlint-disable-line no-await-in-loop -- in order
      }
      for (const node of ['a', 'b', 'c']) {
        const searched = store.list().filter((object) => object.node === node);
        expect(new Set(store.by('node', node))).toEqual(new Set(searched));
      }
    }),
  );
});
