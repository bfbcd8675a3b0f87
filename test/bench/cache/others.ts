/** What else the computer does meanwhile, as Linux tells it. Source: proc_pid_stat(5), proc_stat(5). */
import { readFileSync } from 'node:fs';

import type { Run } from '#sandbox/processes/run.ts';

/** Hundredths of a second, in which Linux tells processor times. */
const tick = 100;

interface Look {
  /** Seconds. */
  readonly at: number;
  /** Processor seconds that all took, and those that this program and what it started took. */
  readonly all: number;
  readonly own: number;
}

export class Others {
  readonly #run: Run;
  #last: Look;

  constructor(run: Run) {
    this.#run = run;
    this.#last = this.#look();
  }

  /** How many processors were busy with something else, on average since it was last asked. */
  busy(): number {
    const { at, all, own } = this.#last;
    this.#last = this.#look();
    const others = this.#last.all - all - (this.#last.own - own);
    return Math.max(0, others) / (this.#last.at - at);
  }

  #look(): Look {
    const running = this.#run.processes.map(({ pid }) => String(pid));
    return {
      at: performance.now() / 1000,
      all: ticksOfAll() / tick,
      own: ['self', ...running].reduce((sum, pid) => sum + ticksOf(pid), 0) / tick,
    };
  }
}

/** All but idle, waiting for disks, and what is counted as `user` already: guests. */
function ticksOfAll(): number {
  const [, ...times] = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]?.split(/\s+/) ?? [];
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = times.map(Number);
  return user + nice + system + irq + softirq + steal;
}

/** With those of its children that have ended. */
function ticksOf(pid: string): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0); // fields 14 to 17
}
