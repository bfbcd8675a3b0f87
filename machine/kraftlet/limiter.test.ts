import { expect, test } from 'vitest';

import { Limiter } from './limiter.ts';

const signal = new AbortController().signal;

test('no more run at once than may, and all run in the end', async () => {
  const limiter = new Limiter(2);
  let running = 0;
  let most = 0;
  const action = async (): Promise<void> => {
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
  };

  await Promise.all(Array.from({ length: 10 }, async () => limiter.run(action, signal)));

  expect(most).toBe(2);
  expect(running).toBe(0);
});

test('a failure and an abort give their place back', async () => {
  const limiter = new Limiter(1);
  const aborted = AbortSignal.abort(new Error('no longer wanted'));

  await expect(
    limiter.run(async () => Promise.reject(new Error('failed')), signal),
  ).rejects.toThrow('failed');
  await expect(limiter.run(async () => 1, aborted)).rejects.toThrow('no longer wanted');
  await expect(limiter.run(async () => 2, signal)).resolves.toBe(2);
});
