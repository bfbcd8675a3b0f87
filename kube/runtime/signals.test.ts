import { EventEmitter } from 'node:events';

import { expect, test } from 'vitest';

import { installSignalHandlers } from './signals.ts';

class FakeProcess extends EventEmitter {
  readonly exits: number[] = [];
  exit(code: number): void {
    this.exits.push(code);
  }
}

test('the first signal asks, the second insists', () => {
  const target = new FakeProcess();
  const end = installSignalHandlers(target);
  expect(end.aborted).toBe(false);

  target.emit('SIGTERM', 'SIGTERM');
  expect(end.reason).toEqual(new Error('the process received SIGTERM'));
  expect(target.exits).toEqual([]);

  target.emit('SIGINT', 'SIGINT');
  expect(target.exits).toEqual([130]);
});
