import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { Logger } from '#kube/log.ts';
import type { Clock } from '#schemas/time/clock.ts';

import type { LocalProcess, ProcessSpec } from '../processes/local-process.ts';
import type { Surroundings } from './call.ts';
import type { MachineScript } from './health.ts';
import { Machine, type MachineSpec } from './machine.ts';

/** Where machines run as processes of their own: a run of the sandbox. */
export interface ProcessHome {
  readonly dir: string;
  start(spec: ProcessSpec): LocalProcess;
}

/** What an instance gives its machine. */
export interface Power {
  readonly id: string;
  readonly address: string;
  readonly userData: string;
}

interface Running {
  off(): Promise<unknown>;
}

/** The machines of all instances that run: processes when there is a home for them, else in this process. */
export class Machines {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #usual: MachineScript;
  readonly #home: ProcessHome | undefined;
  readonly #surroundings: (() => Surroundings) | undefined;
  readonly #scripts: Partial<MachineScript>[] = [];
  readonly #scriptOf = new Map<string, MachineScript>();
  readonly #running = new Map<string, Running>();
  readonly #goingOff = new Set<Promise<unknown>>();
  #isStopped = false;

  constructor(options: {
    clock: Clock;
    log: Logger;
    usual: MachineScript;
    home?: ProcessHome | undefined;
    /** Where machines find their cloud. */
    surroundings?: () => Surroundings;
  }) {
    this.#clock = options.clock;
    this.#log = options.log;
    this.#usual = options.usual;
    this.#home = options.home;
    this.#surroundings = options.surroundings;
  }

  /**
   * Scripts the machine of the next instance that is launched.
   *
   * @example cloud.machines.next({ health: 'degraded' })
   */
  next(script: Partial<MachineScript>): void {
    this.#scripts.push(script);
  }

  /** Called at launch: scripts go to instances in the order of launches, not of power-ons. */
  assign(id: string): void {
    this.#scriptOf.set(id, { ...this.#usual, ...this.#scripts.shift() });
  }

  /** Ids of instances whose machine is on. */
  get running(): readonly string[] {
    return [...this.#running.keys()];
  }

  /** An instance that starts once all has stopped has no machine any more. */
  powerOn({ id, address, userData }: Power): void {
    if (this.#isStopped) return;
    const script = this.#scriptOf.get(id) ?? this.#usual;
    const spec: MachineSpec = { address, userData, surroundings: this.#surroundings?.(), script };
    this.#running.set(
      id,
      this.#home ? inProcess(id, spec, this.#home) : this.#inThisProcess(id, spec),
    );
  }

  powerOff(id: string): void {
    const machine = this.#running.get(id);
    if (!machine) return;
    this.#running.delete(id);
    const going = machine.off();
    this.#goingOff.add(going);
    void going.finally(() => this.#goingOff.delete(going));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const id of this.running) this.powerOff(id);
    await Promise.allSettled(this.#goingOff);
  }

  #inThisProcess(id: string, spec: MachineSpec): Running {
    const log = this.#log.child({ machine: id });
    const machine = new Machine(spec, { clock: this.#clock, log });
    machine.powerOn();
    return { off: async () => machine.powerOff() };
  }
}

/** Machines have no orderly end: an instance that is terminated pulls the plug. */
function inProcess(id: string, spec: MachineSpec, home: ProcessHome): Running {
  const folder = join(home.dir, 'machines', id);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, 'machine.json');
  writeFileSync(file, JSON.stringify(spec), { mode: 0o600 });
  const main = fileURLToPath(new URL('main.ts', import.meta.url));
  const machine = home.start({ name: `machine-${id}`, command: [process.execPath, main, file] });
  return {
    off: async () => {
      machine.kill('SIGKILL');
      await machine.exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
