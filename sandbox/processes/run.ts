import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { cacheRoot } from './cache-root.ts';
import { identityOf, identityText } from './identity.ts';
import { removeLeftovers } from './leftovers.ts';
import { LocalProcess, type ProcessSpec } from './local-process.ts';

export function runsRoot(): string {
  return join(cacheRoot(), 'run');
}

/**
 * One world's folder and its processes. Whatever ends the world, nothing stays: `close` stops in reverse order of
 * start; an exit without it kills; a SIGKILL takes the children along where the kernel can do that (Linux); and
 * what is left then is removed when the next run opens.
 */
export class Run {
  /** Absolute; removed by {@link Run.close}. */
  readonly dir: string;
  readonly #running = new Set<LocalProcess>();
  readonly #killAll = (): void => {
    for (const process of this.#running) process.kill('SIGKILL');
  };
  #closed: Promise<void> | undefined;

  private constructor(dir: string) {
    this.dir = dir;
    process.once('exit', this.#killAll);
  }

  /** Removes what killed runs left under `root`, then makes a folder there that names this process as its owner. */
  static async open(name: string, root: string = runsRoot()): Promise<Run> {
    await mkdir(root, { recursive: true });
    await removeLeftovers(root);
    const self = identityOf(process.pid);
    if (!self) throw new Error('cannot read the start time of this process');
    const unique = `${name}-${randomBytes(3).toString('hex')}`;
    const run = new Run(join(root, `${unique}-${identityText(self)}`));
    await mkdir(join(run.dir, 'processes'), { recursive: true });
    await mkdir(join(run.dir, 'logs'));
    return run;
  }

  start(spec: ProcessSpec): LocalProcess {
    if (this.#closed) throw new Error(`cannot start ${spec.name}: the run has ended`);
    const process = LocalProcess.start(spec, join(this.dir, 'logs', `${spec.name}.log`));
    this.#running.add(process);
    const identity = identityOf(process.pid);
    const record = identity && join(this.dir, 'processes', identityText(identity));
    if (record) writeFileSync(record, `${spec.name}\n`);
    void process.exited.then(() => {
      this.#running.delete(process);
      if (record) rmSync(record, { force: true });
    });
    return process;
  }

  /** Processes that run now, oldest first. */
  get processes(): readonly LocalProcess[] {
    return [...this.#running];
  }

  /** Stops all processes, the youngest first, then removes the folder, unless its logs are to be kept. */
  close(options: { keep?: boolean } = {}): Promise<void> {
    this.#closed ??= this.#close(options.keep ?? false);
    return this.#closed;
  }

  async #close(keep: boolean): Promise<void> {
    for (const process of [...this.#running].toReversed()) {
      // oxlint-disable-next-line no-await-in-loop -- a server outlives its clients: one after the other
      await process.stop();
    }
    process.off('exit', this.#killAll);
    if (!keep) await rm(this.dir, { recursive: true, force: true, maxRetries: 3 });
  }
}
