/** The solver's own thread: it keeps what it was told, solves when it is asked, and answers in pieces. */
import { setImmediate } from 'node:timers/promises';
import { parentPort } from 'node:worker_threads';

import { solve } from '#scheduling/solve.ts';
import { madeUpProblem } from '#scheduling/warm-up.ts';

import type { Ask, FromThread, ToThread } from './messages.ts';
import { piecesOf } from './plan-text.ts';
import { Receiver } from './receiver.ts';

/** As many as the compiler needs to see: a second or two in all. Whoever asks meanwhile waits for one of them. */
const rounds = 300;

const port = parentPort;
if (!port) throw new Error('this runs in a thread of the controller');
const tell = (message: FromThread): void => port.postMessage(message);
const receiver = new Receiver();

port.on('message', (message: ToThread) => {
  if (message.kind === 'change') receiver.take(message);
  else answer(message);
});

for (let round = 0; round < rounds; round++) {
  solve(madeUpProblem(round));
  await setImmediate();
}
tell({ kind: 'warm' });

function answer(ask: Ask): void {
  const { number } = ask;
  try {
    const began = performance.now();
    const problem = receiver.problem(ask);
    const plan = solve(problem);
    const milliseconds = performance.now() - began;
    for (const text of piecesOf(plan, problem.pools)) tell({ kind: 'plan', number, text });
    tell({ kind: 'solved', number, milliseconds });
  } catch (error) {
    const { name, message, stack = '' } = error instanceof Error ? error : new Error(String(error));
    tell({ kind: 'failed', number, name, message, stack });
  }
}
