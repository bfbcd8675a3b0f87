import { expect, test } from 'vitest';

import type { Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';

import { at, beside, dropped, message, shared, text, texts, word } from '../shapes/shape.ts';
import { initialEnd, InformerWorld, pod } from '../testing/informer-world.ts';
import { json, refusal, ScriptedWatch } from '../testing/scripted-server.ts';

type Meta = Live<Pod>['metadata'];

const metadata = message<Pick<Meta, 'name' | 'namespace' | 'uid' | 'resourceVersion' | 'labels'>>({
  name: at(1, text),
  namespace: at(3, word),
  uid: at(5, text),
  resourceVersion: at(6, text),
  labels: at(11, shared(texts())),
});
const kept = message<Pod>({
  apiVersion: beside(word),
  kind: beside(word),
  metadata: at(1, metadata as never),
  spec: dropped,
  status: dropped,
});

const labelled = (name: string, version: number, labels: Record<string, string>): Live<Pod> => {
  const made = pod(name, version, `${name}-1`, 'n1');
  return { ...made, metadata: { ...made.metadata, labels } };
};

test('of a Pod only that is there, and twins have one object for what is alike', async () => {
  await using world = await InformerWorld.open();
  const present = [labelled('one', 3, { app: 'web' }), labelled('two', 4, { app: 'web' })];
  const { informer, told, watch } = await world.started(present, { kept });
  const [one, two] = informer.list();
  expect(one).toStrictEqual({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: 'x',
      name: 'one',
      uid: 'one-1',
      resourceVersion: '3',
      labels: { app: 'web' },
    },
  });
  expect(two?.metadata.labels).toBe(one?.metadata.labels);

  await watch.send('MODIFIED', labelled('one', 11, { app: 'web', version: '2' }));
  await world.until(() => told.length === 1);
  expect(informer.get('x/one')?.metadata.labels).toEqual({ app: 'web', version: '2' });
  expect(informer.get('x/two')).toBe(two);
  expect(two?.metadata.labels).toEqual({ app: 'web' });
});

test('the same is kept where a server streams nothing and gives pages', async () => {
  await using world = await InformerWorld.open();
  const items = [labelled('one', 3, { app: 'web' }), labelled('two', 4, { app: 'web' })];
  const watch = new ScriptedWatch();
  world.server.script(
    refusal(422, 'Invalid', { message: 'sendInitialEvents: Forbidden' }),
    json({ metadata: { resourceVersion: '10' }, items }),
    watch.answer,
  );
  const { informer } = world.start({ kept });
  await watch.opened();
  const [one, two] = informer.list();
  expect(one?.spec).toBeUndefined();
  expect(two?.metadata.labels).toBe(one?.metadata.labels);
});

test('who keeps only some asks for protobuf, who keeps all does not', async () => {
  await using world = await InformerWorld.open();
  const watch = new ScriptedWatch();
  world.server.script(watch.answer);
  const { informer } = world.start({ kept });
  await watch.send('BOOKMARK', initialEnd(10));
  await informer.whenSynced(world.stop.signal);
  expect(world.server.asked[0]?.headers.accept).toContain('vnd.kubernetes.protobuf');

  await using other = await InformerWorld.open();
  await other.started();
  expect(other.server.asked[0]?.headers.accept).toBe('application/json');
});
