/** What it costs a process to fill a cache, measured from inside of it. */
import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';

export interface Measured {
  /** Milliseconds from the start until all Pods could be read. */
  readonly ready: number;
  /** Milliseconds; the longest time in which the event loop did not turn. */
  readonly stall: number;
  /** MiB that stay after a full collection, over those before the start. */
  readonly held: number;
  /** Milliseconds of processor time, of all threads. */
  readonly processor: number;
  /** MiB, the most that the process ever held. */
  readonly peak: number;
  readonly pods: number;
}

export interface Filling {
  /** Makes a first small call, as a controller has before it fills its caches: code is loaded, a connection stands. */
  readonly warm: () => Promise<unknown>;
  /** Resolves when all can be read. */
  readonly fill: () => Promise<void>;
  /** How many there are. */
  readonly count: () => number;
}

const mebibyte = 1024 * 1024;

/** Measures, prints one line of JSON, and ends the process. Needs `--expose-gc`. */
export async function measure({ warm, fill, count }: Filling): Promise<never> {
  await warm();
  const before = await held();
  const delay = monitorEventLoopDelay({ resolution: 1 });
  await setTimeout(50); // modules that load late have loaded, and the first delays are none of the cache's
  delay.enable();
  await setTimeout(5);
  delay.reset();
  const processor = process.cpuUsage();
  const started = performance.now();
  await fill();
  const ready = performance.now() - started;
  const used = process.cpuUsage(processor);
  await setTimeout(20); // the turn that ended it is over
  delay.disable();
  const measured: Measured = {
    ready,
    stall: delay.max / 1e6,
    held: (await held()) - before,
    processor: (used.user + used.system) / 1000,
    peak: peak(),
    pods: count(),
  };
  console.log(JSON.stringify(measured));
  process.exit(0);
}

/** MiB (Linux); what the kernel tells of a process by other ways includes what its parent held when it began. */
function peak(): number {
  const [, kilobytes = 'NaN'] =
    /VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}

/** MiB in use by objects and by what they hold outside of the heap. */
async function held(): Promise<number> {
  if (!globalThis.gc) throw new Error('start it with --expose-gc');
  for (let i = 0; i < 3; i++) {
    globalThis.gc();
    // oxlint-disable-next-line no-await-in-loop -- finalizers run in turns of their own
    await setTimeout(10);
  }
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / mebibyte;
}
