import { type Clock, hours, type Instant, seconds } from '#schemas/time/clock.ts';

import { MachineError } from '../../errors.ts';
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
  askedAt: Instant;
  /** Another instance has been asked for under its name: its end proves nothing of that one. */
  isSucceeded?: true;
}

/** How long the end of an instance is told of, after which nobody asks. */
const kept = hours(1);
/** How often at most the operation of a delete is asked for whose instance is shown as if nothing happened. */
const doubted = seconds(5);

/** A delete that this process has asked for, and what became of it. */
interface Deleted {
  readonly where: Where;
  readonly result: Result;
  readonly instance: Instance;
}

/**
 * Inserts and deletes that this process has asked for, since what becomes of them is told by their operations alone.
 *
 * A delete is of one instance for good, by its number: its name may be given again as soon as it is gone, in the same
 * zone.
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
    const key = keyOf(where);
    for (const [deleted, one] of this.#deletes) {
      if (deleted.startsWith(`${key} `)) one.isSucceeded = true;
    }
    return this.#remember(this.#inserts, key, { where, operation });
  }

  /** @param instance  as it was seen; what is deleted is whatever has its name by now, as the operation says */
  deleted(where: Where, operation: Operation, instance: Instance): Result {
    const { targetId: serial = instance.serial } = operation;
    const target = serial === undefined ? instance : { ...instance, serial };
    const key = keyOfDelete(where, target);
    return this.#remember(this.#deletes, key, { where, operation, instance: target });
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
  async deletes(project: string, instance: string, signal: AbortSignal): Promise<Deleted[]> {
    const all = await this.#settled(this.#deletes, project, instance, signal);
    return all.flatMap((one) => (one.instance ? [{ ...one, instance: one.instance }] : []));
  }

  /** Whether a delete has been asked for and not failed: a second one would do nothing but cost a call. */
  isBeingDeleted(where: Where, instance: Instance): boolean {
    return this.#deletes.has(keyOfDelete(where, instance));
  }

  /**
   * Asks what became of the delete of an instance that is still shown as if nobody had asked for its end: that of one
   * whose operation failed is forgotten. While the operation cannot be asked it is taken to go on.
   */
  async doubt(where: Where, instance: Instance, signal: AbortSignal): Promise<void> {
    const key = keyOfDelete(where, instance);
    const one = this.#deletes.get(key);
    const now = this.#clock.now();
    if (one?.result.kind !== 'running' || now - one.askedAt < doubted) return;
    one.askedAt = now;
    try {
      this.#conclude(this.#deletes, key, one, await this.#ask(one, signal));
    } catch (error) {
      if (!(error instanceof MachineError)) throw error;
    }
  }

  forgetInsert(where: Where): void {
    this.#inserts.delete(keyOf(where));
  }

  #remember(
    among: Map<string, Remembered>,
    key: string,
    { where, operation, instance }: { where: Where; operation: Operation; instance?: Instance },
  ): Result {
    this.#forgetOld();
    const result = resultOf(operation);
    const since = this.#clock.now();
    const { name = '' } = operation;
    among.set(key, { where, operation: name, result, instance, since, askedAt: since });
    return result;
  }

  async #settled(
    among: Map<string, Remembered>,
    project: string,
    instance: string,
    signal: AbortSignal,
  ): Promise<{ where: Where; result: Result; instance: Instance | undefined }[]> {
    this.#forgetOld();
    const ours = [...among].filter(
      ([, { where }]) => where.project === project && where.instance === instance,
    );
    await Promise.all(
      ours.map(async ([key, one]) => {
        const result = one.result.kind === 'running' ? await this.#ask(one, signal) : one.result;
        this.#conclude(among, key, one, result);
      }),
    );
    return ours
      .filter(([key, one]) => among.get(key) === one && !one.isSucceeded)
      .map(([, { where, result, instance: seen }]) => ({ where, result, instance: seen }));
  }

  #conclude(
    among: Map<string, Remembered>,
    ...[key, one, result]: [key: string, one: Remembered, result: Result | undefined]
  ): void {
    const isOver = result === undefined || (result.kind === 'failed' && among === this.#deletes);
    if (!isOver) one.result = result;
    else if (among.get(key) === one) among.delete(key); // else it was asked for anew meanwhile
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

/** Of an instance without a number all that is known is its name. */
function keyOfDelete(where: Where, { serial = '' }: Instance): string {
  return `${keyOf(where)} ${serial}`;
}

function resultOf(operation: Operation): Result {
  const refusal = refusalIn(operation);
  if (refusal) return { kind: 'failed', refusal };
  return { kind: operation.status === 'DONE' ? 'done' : 'running' };
}
