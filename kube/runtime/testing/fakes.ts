import type { Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { pods } from '#schemas/kubernetes/resource.ts';

import type { Informer, InformerHandler } from '../../cache/informer.ts';
import type { Logger } from '../../log.ts';

/** An informer of Pods whose events a test speaks. It holds no objects. */
export class ScriptedInformer implements Informer<Pod> {
  readonly resource = pods;
  readonly lastEventAt = 0;
  readonly #handlers = new Set<InformerHandler<Pod>>();
  readonly #full = Promise.withResolvers<void>();
  synced = false;

  sync(): void {
    this.synced = true;
    this.#full.resolve();
  }

  add(object: Live<Pod>): void {
    for (const handler of this.#handlers) handler.add?.(object);
  }

  update(object: Live<Pod>, old: Live<Pod>): void {
    for (const handler of this.#handlers) handler.update?.(object, old);
  }

  delete(object: Live<Pod>): void {
    for (const handler of this.#handlers) handler.delete?.(object);
  }

  get subscribers(): number {
    return this.#handlers.size;
  }

  subscribe(handler: InformerHandler<Pod>): () => void {
    this.#handlers.add(handler);
    return () => this.#handlers.delete(handler);
  }

  async whenSynced(signal: AbortSignal): Promise<void> {
    await Promise.race([this.#full.promise, aborted(signal)]);
  }

  async run(signal: AbortSignal): Promise<void> {
    await aborted(signal).catch(() => {});
  }

  get(): undefined {
    return undefined;
  }

  list(): [] {
    return [];
  }

  by(): [] {
    return [];
  }

  addIndex(): void {}
}

interface Line {
  readonly level: keyof Omit<Logger, 'child'>;
  readonly facts: object;
  readonly message: string;
}

/** Keeps what was logged, with the facts of its parents. */
export class RecordingLogger implements Logger {
  readonly lines: Line[];
  readonly #facts: object;

  constructor(lines: Line[] = [], facts: object = {}) {
    this.lines = lines;
    this.#facts = facts;
  }

  debug(facts: object, message: string): void {
    this.#keep('debug', facts, message);
  }

  info(facts: object, message: string): void {
    this.#keep('info', facts, message);
  }

  warn(facts: object, message: string): void {
    this.#keep('warn', facts, message);
  }

  error(facts: object, message: string): void {
    this.#keep('error', facts, message);
  }

  child(facts: object): RecordingLogger {
    return new RecordingLogger(this.lines, { ...this.#facts, ...facts });
  }

  #keep(level: Line['level'], facts: object, message: string): void {
    this.lines.push({ level, facts: { ...this.#facts, ...facts }, message });
  }
}

async function aborted(signal: AbortSignal): Promise<never> {
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  return promise;
}
