import { expect, test } from 'vitest';

import { seconds } from '#schemas/time/clock.ts';

import { initialEnd, pod, InformerWorld } from '../testing/informer-world.ts';
import { ScriptedWatch } from '../testing/scripted-server.ts';

test('who comes late sees what is there first', async () => {
  await using world = await InformerWorld.open();
  const { informer, watch } = await world.started([pod('one', 3)]);
  const late: string[] = [];
  const leave = informer.subscribe({ add: (object) => late.push(object.metadata.name) });
  expect(late).toEqual(['one']);
  await watch.send('ADDED', pod('two', 11));
  await world.until(() => late.length === 2);
  leave();
  await watch.send('ADDED', pod('three', 12));
  await world.until(() => informer.list().length === 3);
  expect(late).toEqual(['one', 'two']);
});

test('who throws is logged and counted, and nobody else notices', async () => {
  await using world = await InformerWorld.open();
  const watch = new ScriptedWatch();
  world.server.script(watch.answer);
  const fail = () => {
    throw new Error('careless');
  };
  const { informer } = world.start({ transform: fail });
  const told: string[] = [];
  informer.addIndex('bad', fail);
  informer.subscribe({ add: fail });
  informer.subscribe({ add: (object) => told.push(object.metadata.name) });
  await watch.send('ADDED', pod('one', 3));
  await watch.send('BOOKMARK', initialEnd(10));
  await informer.whenSynced(world.stop.signal);
  expect(told).toEqual(['one']);
  expect(await world.metrics.text()).toContain(
    'kube_informer_handler_errors_total{informer="pods"} 3',
  );
  expect(world.lines.filter((line) => line.includes('careless'))).toHaveLength(3);
});

test('metrics show how many objects there are and how old the news is', async () => {
  await using world = await InformerWorld.open();
  await world.started([pod('one', 3), pod('two', 4)], { name: 'bound-pods' });
  await world.clock.forward(seconds(42));
  expect(await world.metrics.text()).toContain('kube_informer_objects{informer="bound-pods"} 2');
  expect(await world.metrics.text()).toContain(
    'kube_informer_last_event_age_seconds{informer="bound-pods"} 42',
  );
  world.stop.abort();
  await world.running;
  expect(await world.metrics.text()).not.toContain('bound-pods"} 2');
});

test('who stops it stops its connection and its timers', async () => {
  await using world = await InformerWorld.open();
  const { watch } = await world.started();
  world.stop.abort();
  await world.running;
  await watch.closed();
  expect(world.clock.waiting).toBe(0);
});
