/** The solver's thread is no more, and with it what it was told; another one is started and told everything. */
export class SolverThreadDied extends Error {
  override readonly name = 'SolverThreadDied';
  readonly code = 'KPU350';

  constructor(cause: Error) {
    super(`the solver thread ended: ${cause.message} (KPU350)`, { cause });
  }
}

/** There is no thread just now: nothing was asked of any, so nothing is known of the problem. */
export class NoSolverThread extends SolverThreadDied {
  constructor() {
    super(new Error('the next one is not there yet'));
  }
}

/** The problem is none that can be solved, as when an object holds a text that is no quantity. */
export class SolveFailed extends Error {
  override readonly name = 'SolveFailed';

  constructor({ name, message, stack }: { name: string; message: string; stack: string }) {
    super(message, { cause: Object.assign(new Error(message), { name, stack }) });
  }
}
