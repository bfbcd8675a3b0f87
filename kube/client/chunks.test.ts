import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { Chunks } from './chunks.ts';

const textOf = (chunks: readonly Buffer[] | undefined): string | undefined =>
  chunks && Buffer.concat(chunks).toString();

test('all that has come is handed on at once, and the end after it', async () => {
  const body = new PassThrough();
  const chunks = new Chunks(body);
  const first = chunks.next();
  body.write('one');
  expect(textOf(await first)).toBe('one');
  body.write('two, ');
  body.write('three');
  body.end();
  await turn();
  expect(textOf(await chunks.next())).toBe('two, three');
  expect(await chunks.next()).toBeUndefined();
  expect(await chunks.next()).toBeUndefined();
});

test('a server is held back while nobody asks, and nothing is lost by that', async () => {
  const body = new PassThrough();
  const chunks = new Chunks(body);
  const piece = Buffer.alloc(64 * 1024, 'x');
  let sent = 0;
  for (let round = 0; round < 100; round++) {
    for (; !body.writableNeedDrain; sent += piece.length) body.write(piece);
    await turn(); // oxlint-disable-line no-await-in-loop -- a stream moves on in turns
  }
  expect(sent).toBeLessThan(1024 * 1024);
  body.end();
  let come = 0;
  for (let next = await chunks.next(); next; next = await chunks.next())
    for (const chunk of next) come += chunk.length;
  expect(come).toBe(sent);
});

test('what breaks the body is thrown, and what still waits is not taken for all there was', async () => {
  const body = new PassThrough();
  const chunks = new Chunks(body);
  const next = chunks.next();
  body.destroy(new Error('cut off'));
  await expect(next).rejects.toThrow('cut off');
  await expect(chunks.next()).rejects.toThrow('cut off');

  const other = new PassThrough();
  const waiting = new Chunks(other);
  other.write('half of ');
  await turn();
  other.destroy(new Error('cut off'));
  await turn();
  await expect(waiting.next()).rejects.toThrow('cut off');
});

test('who has had enough gives the body up', () => {
  const body = new PassThrough();
  new Chunks(body).close();
  expect(body.destroyed).toBe(true);
});
