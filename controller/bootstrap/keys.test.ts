import { inspect } from 'node:util';

import { beforeEach, describe, expect, test } from 'vitest';

import { secrets } from '#schemas/kubernetes/resource.ts';
import { hours, minutes, seconds } from '#schemas/time/clock.ts';

import { memoryContext } from '../testing/context.ts';
import { BootstrapKeys, bootstrapSecretName } from './keys.ts';

let memory: ReturnType<typeof memoryContext>;
const newKeys = (): BootstrapKeys =>
  new BootstrapKeys(memory.client, memory.namespace, memory.clock);
const reads = (): number => memory.client.calls.filter(({ verb }) => verb === 'get').length;

beforeEach(() => {
  memory = memoryContext();
});

test('replicas that start together have one authority and one key', async () => {
  const all = await Promise.all([newKeys().current(), newKeys().current(), newKeys().current()]);
  const [first] = all;
  for (const { authority, keys } of all) {
    expect(authority.pem).toEqual(first.authority.pem);
    expect(keys.map(({ kid }) => kid)).toEqual([first.keys[0].kid]);
  }
  expect(memory.client.all(secrets)).toHaveLength(1);
});

test('a key signs for a month and is known for another', async () => {
  const [one, other] = [newKeys(), newKeys()];
  const [before] = (await one.current()).keys;
  expect(await one.rotate()).toBe(false);
  await memory.clock.forward(hours(24 * 30));

  const turned = await Promise.all([one.rotate(), other.rotate()]);

  expect(turned.filter(Boolean)).toHaveLength(1);
  const { keys } = await newKeys().current();
  expect(keys).toHaveLength(2);
  expect(keys[1]?.kid).toBe(before.kid);
  expect(keys[0].kid).not.toBe(before.kid);
  await memory.clock.forward(hours(24 * 30));
  await one.rotate();
  expect((await newKeys().current()).keys.map(({ kid }) => kid)).not.toContain(before.kid);
});

test('a key that another replica made just now is found, and made-up ones cost no reads', async () => {
  const reader = newKeys();
  await reader.current();
  await memory.clock.forward(hours(24 * 30));
  await reader.current();
  const writer = newKeys();
  await writer.rotate();
  const [{ kid }] = (await writer.current()).keys;

  await memory.clock.forward(seconds(6));
  expect((await reader.keysFor(kid)).map((key) => key.kid)).toEqual([kid]);
  const before = reads();
  for (const made of ['a', 'b', undefined]) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other, as they come
    expect(await reader.keysFor(made)).toEqual([]);
  }
  expect(reads()).toBe(before);
});

test('it is read once a minute at most, whoever asks', async () => {
  const keys = newKeys();
  await Promise.all([keys.current(), keys.current()]);
  const before = reads();
  await keys.current();
  expect(reads()).toBe(before);
  await memory.clock.forward(minutes(2));
  await Promise.all([keys.current(), keys.current()]);
  expect(reads()).toBe(before + 1);
});

describe('a Secret whose keys are', () => {
  const whole = '[{"kid":"1","d":"c2VjcmV0LXNjYWxhcg"}]';
  test.each([
    ['not there', ''],
    ['none', '[]'],
    ['cut off', whole.slice(0, -6)],
    ['no JSON', 'c2VjcmV0LXNjYWxhcg'],
    ['null', 'null'],
    ['no list', whole.slice(1, -1)],
    ['a list with something else', `[null, ${whole.slice(1)}`],
    ['public ones', '[{"kid":"1","x":"c2VjcmV0LXNjYWxhcg"}]'],
  ])('%s is named, deleting it is the way out, and no part of it is said', async (_, text) => {
    const key = { namespace: memory.namespace, name: bootstrapSecretName };
    await newKeys().current();
    const { data } = memory.client.peek(secrets, key) ?? {};
    memory.client.seed(secrets, {
      metadata: key,
      data: { ...data, 'signing-keys.json': btoa(text) },
    });
    const error: unknown = await newKeys()
      .current()
      .catch((why: unknown) => why);
    expect(inspect(error)).toContain('delete it to have new ones');
    expect(inspect(error)).not.toMatch(/c2Vj|xhcg/);
    memory.client.remove(secrets, key);
    expect((await newKeys().current()).keys).toHaveLength(1);
  });
});
