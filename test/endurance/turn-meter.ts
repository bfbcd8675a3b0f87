import { availableParallelism, loadavg } from 'node:os';

import type { Context } from '#controller/context.ts';

/** What this thread computes from one turn of its loop to the next, in milliseconds: other programs' turns are not ours. */
export class TurnMeter {
  longest = 0;
  #isOver = false;

  begin(): void {
    const before = process.threadCpuUsage();
    setImmediate(() => {
      const { user, system } = process.threadCpuUsage(before);
      this.longest = Math.max(this.longest, (user + system) / 1000);
      if (!this.#isOver) this.begin();
    });
  }

  end(): void {
    this.#isOver = true;
  }
}

/** Where more wants to run than there are cores, everything takes as many times longer, collecting garbage above all. */
export function busyness(): number {
  return Math.max(1, loadavg()[0]! / availableParallelism());
}

/** An API server is elsewhere, and a write takes it a while; in memory all of them would be one turn. */
export function answerSlowly(context: Context, signal: AbortSignal): Context {
  const { client } = context;
  const slowly = (name: string | symbol) => {
    const member: unknown = Reflect.get(client, name);
    if (typeof member !== 'function' || !writes.has(name)) return bound(client, member);
    return async (...args: unknown[]): Promise<unknown> => {
      await pause(10);
      signal.throwIfAborted();
      return member.apply(client, args);
    };
  };
  return { ...context, client: new Proxy(client, { get: (_, name) => slowly(name) }) };
}

const writes: ReadonlySet<string | symbol> = new Set(['create', 'patch', 'replace', 'delete']);

function bound(target: object, member: unknown): unknown {
  return typeof member === 'function' ? member.bind(target) : member;
}

export async function pause(milliseconds: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
}
