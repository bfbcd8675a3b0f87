import { type Clock, hours, type Instant } from '#schemas/time/clock.ts';

import { GoogleError } from '../../gcp/google-error.ts';
import type { Instance } from '../../machine.ts';
import type { ComputeApi, Where } from './api.ts';
import { failed, type Refusal, refusalIn } from './errors.ts';
import type { Operation } from './resources.ts';

/** What became of an operation. */
type Result =
  | { readonly kind: 'running' }
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly refusal: Refusal };

interface Remembered {
  readonly where: Where;
  readonly operation: string;
  result: Result;
  /** Of a delete: the instance as it was seen last. */
  readonly instance?: Instance | undefined;
  readonly since: Instant;
}

/** How long the end of an instance is told of, after which nobody asks. */
const kept = hours(1);

/**
 * Inserts and deletes that this process has asked for, since what becomes of them is told by their operations alone.
 *
 * Kept in memory: after a restart an insert is repeated under the same request id, which gives the same operation, and
 * a delete by its instance, which says that it is stopping.
 */
export class Operations {
  readonly #api: ComputeApi;
  readonly #clock: Clock;
  readonly #inserts = new Map<string, Remembered>();
  readonly #deletes = new Map<string, Remembered>();

  constructor(api: ComputeApi, clock: Clock) {
    this.#api = api;
    this.#clock = clock;
  }

  /** Remembers an insert and what is known of it. */
  inserted(where: Where, operation: Operation): Result {
    return this.#remember(this.#inserts, where, operation);
  }

  deleted(where: Where, operation: Operation, instance: Instance | undefined): Result {
    return this.#remember(this.#deletes, where, operation, instance);
  }

  /**
   * What has become of the inserts under this name, asked for where it is not known.
   *
   * @throws MachineError when it cannot be asked: the insert goes on all the same and is not repeated
   */
  async inserts(
    project: string,
    instance: string,
    signal: AbortSignal,
  ): Promise<{ where: Where; result: Result }[]> {
    return this.#settled(this.#inserts, project, instance, signal);
  }

  /** Deletes under this name. One that failed is forgotten, so that it is asked for again. */
  async deletes(
    project: string,
    instance: string,
    signal: AbortSignal,
  ): Promise<{ where: Where; result: Result; instance: Instance | undefined }[]> {
    return this.#settled(this.#deletes, project, instance, signal);
  }

  /** Whether a delete has been asked for and not failed: a second one would do nothing but cost a call. */
  isBeingDeleted(where: Where): boolean {
    return this.#deletes.has(keyOf(where));
  }

  forgetInsert(where: Where): void {
    this.#inserts.delete(keyOf(where));
  }

  #remember(
    among: Map<string, Remembered>,
    where: Where,
    operation: Operation,
    instance?: Instance,
  ): Result {
    this.#forgetOld();
    const result = resultOf(operation);
    const since = this.#clock.now();
    const { name = '' } = operation;
    among.set(keyOf(where), { where, operation: name, result, instance, since });
    return result;
  }

  async #settled(
    among: Map<string, Remembered>,
    project: string,
    instance: string,
    signal: AbortSignal,
  ): Promise<{ where: Where; result: Result; instance: Instance | undefined }[]> {
    const ours = [...among].filter(
      ([, { where }]) => where.project === project && where.instance === instance,
    );
    await Promise.all(
      ours.map(async ([key, one]) => {
        const result = one.result.kind === 'running' ? await this.#ask(one, signal) : one.result;
        const isOver =
          result === undefined || (result.kind === 'failed' && among === this.#deletes);
        if (isOver) among.delete(key);
        else one.result = result;
      }),
    );
    return ours
      .filter(([key]) => among.has(key))
      .map(([, { where, result, instance: seen }]) => ({ where, result, instance: seen }));
  }

  /** @returns undefined when it is not known (any more): then the instance itself has to be looked at */
  async #ask({ where, operation }: Remembered, signal: AbortSignal): Promise<Result | undefined> {
    try {
      return resultOf(await this.#api.operation(where, operation, signal));
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof GoogleError && error.status === 404) return undefined;
      throw failed(error, `Asking how operation ${operation} on ${where.instance} goes`);
    }
  }

  #forgetOld(): void {
    const oldest = this.#clock.now() - kept;
    for (const among of [this.#inserts, this.#deletes]) {
      for (const [key, { since }] of among) if (since < oldest) among.delete(key);
    }
  }
}

function keyOf({ project, zone, instance }: Where): string {
  return `${project}/${zone}/${instance}`;
}

function resultOf(operation: Operation): Result {
  const refusal = refusalIn(operation);
  if (refusal) return { kind: 'failed', refusal };
  return { kind: operation.status === 'DONE' ? 'done' : 'running' };
}
