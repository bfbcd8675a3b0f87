import type { Clock, Duration } from '#schemas/time/clock.ts';

import type { Failure } from './instance.ts';

export interface Operation {
  readonly name: string;
  readonly zone: string;
  readonly type: 'insert' | 'delete' | 'setLabels';
  /** Name of the instance. */
  readonly target: string;
  /** Number of the instance, where there is one. */
  readonly targetId: string | undefined;
  readonly insertedAt: string;
  status: 'RUNNING' | 'DONE';
  progress: number;
  error: Failure | undefined;
}

/** What was asked for and goes on, or went on. */
export class Operations {
  readonly #clock: Clock;
  readonly #all = new Map<string, Operation>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get all(): readonly Operation[] {
    return [...this.#all.values()];
  }

  get(zone: string, name: string): Operation | undefined {
    const found = this.#all.get(name);
    return found?.zone === zone ? found : undefined;
  }

  /** @param end  what becomes of it after this long: an error, if it fails */
  begin(
    what: Pick<Operation, 'zone' | 'type' | 'target'> & Partial<Pick<Operation, 'targetId'>>,
    takes: Duration,
    end: () => Failure | undefined,
  ): Operation {
    const number = String(this.#all.size + 1).padStart(6, '0');
    const operation: Operation = {
      targetId: undefined,
      ...what,
      name: `operation-${number}-sandbox`,
      insertedAt: this.#clock.stamp(),
      status: 'RUNNING',
      progress: 0,
      error: undefined,
    };
    this.#all.set(operation.name, operation);
    this.#clock.after(takes, () => {
      operation.error = end();
      operation.status = 'DONE';
      operation.progress = 100;
    });
    return operation;
  }
}
