/** A problem may be broken off at any row: what the thread has by then and what the sender thinks it has are alike. */
import fc from 'fast-check';
import { expect, test } from 'vitest';

import type { Problem } from '#scheduling/solver.ts';
import { anyProblem } from '#scheduling/testing/arbitrary.ts';
import { pod } from '#scheduling/testing/build.ts';
import { mix } from '#scheduling/testing/mix.ts';

import { Slices } from '../slices.ts';
import type { Ask, ToThread } from './messages.ts';
import { Receiver } from './receiver.ts';
import { Sender } from './sender.ts';

const never = new AbortController().signal;

/** Both ends. */
class Wire {
  readonly #receiver = new Receiver();
  readonly #sender = new Sender((message) => this.#take(structuredClone(message)));
  #ask: Ask | undefined;

  async send(given: Problem, slices = new Slices(), signal = never): Promise<void> {
    await this.#sender.send(given, 1, slices, signal);
  }

  /** All that the thread has of the problem, whatever the order. */
  async carry(given: Problem): Promise<Record<string, string[]>> {
    await this.send(given);
    const lists = Object.entries(this.#receiver.problem(this.#ask!));
    return Object.fromEntries(lists.map(([name, list]) => [name, textsOf(list)]));
  }

  #take(message: ToThread): void {
    if (message.kind === 'solve') this.#ask = message;
    else this.#receiver.take(message);
  }
}

function textsOf(list: unknown): string[] {
  if (list instanceof Map) return textsOf([...list]);
  return Array.isArray(list)
    ? list.map((item) => JSON.stringify(item)).toSorted()
    : [JSON.stringify(list)];
}

/** Nobody waits any more when so many rows were written. */
class UntilRow extends Slices {
  readonly #stop = new AbortController();
  readonly signal = this.#stop.signal;
  #left: number;

  constructor(rows: number) {
    super();
    this.#left = rows;
  }

  override get isDue(): boolean {
    this.#left -= 1;
    if (this.#left <= 0) this.#stop.abort(new Error('nobody waits'));
    return false;
  }
}

/** As a thread has it that was never told of another. */
const whole = async (given: Problem): Promise<Record<string, string[]>> => new Wire().carry(given);

test('broken off at any row by its signal, it is whole the next time', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(anyProblem, fc.integer({ min: 1, max: 40 })), {
        minLength: 1,
        maxLength: 4,
      }),
      async (broken) => {
        const wire = new Wire();
        for (const [given, rows] of broken) {
          const until = new UntilRow(rows);
          // oxlint-disable-next-line no-await-in-loop -- each builds on the one before
          await wire.send(given, until, until.signal).catch(() => {});
        }
        for (const [given] of broken.toReversed()) {
          // oxlint-disable-next-line no-await-in-loop
          expect(await wire.carry(given)).toEqual(await whole(given));
        }
      },
    ),
    { numRuns: 60 },
  );
});

test.each([1, 2, 499, 500, 501, 999, 1000, 1200])(
  'row %i of many is the last, and none is lost',
  async (rows) => {
    const wire = new Wire();
    const given = mix(1200);
    const until = new UntilRow(rows);
    await expect(wire.send(given, until, until.signal)).rejects.toThrow('nobody waits');
    expect(await wire.carry(given)).toEqual(await whole(given));
  },
);

test('broken off by an item that cannot be written, at any place, it is whole without it', async () => {
  await fc.assert(
    fc.asyncProperty(anyProblem, fc.nat(), async (given, at) => {
      const wire = new Wire();
      const place = at % (given.pods.length + 1);
      const pods = given.pods.toSpliced(place, 0, unwritable());
      await expect(wire.send({ ...given, pods })).rejects.toThrow('cannot be written');
      expect(await wire.carry(given)).toEqual(await whole(given));
    }),
    { numRuns: 60 },
  );
});

function unwritable(): Problem['pods'][number] {
  const spec = { containers: [] };
  const one = { ...pod('unwritable'), spec };
  Object.defineProperty(spec, 'containers', {
    get: () => {
      throw new Error('cannot be written');
    },
  });
  return one;
}
