import { deedOf } from './deeds.ts';
import type { Deed, Exchange, Service } from './exchange.ts';
import type { Passage } from './proxy.ts';
import type { Subjects } from './subjects.ts';

/** Where a machine's life is stopped: at a step, before its call is carried out or before its answer is given back. */
export interface Stop {
  /** As {@link Met.step} has it, or `ec2: *` for the next call of a service. */
  readonly step: string;
  readonly side: 'before' | 'after';
}

/** A call of the controller about one machine. */
export interface Met {
  readonly subject: string;
  /** `service: deed`, counted from the second one on: `kubernetes: create pods/eviction (2)`. */
  readonly step: string;
  readonly service: Service;
  readonly changes: boolean;
  readonly shared: Deed['shared'];
  /** HTTP, or 0 when it was not let through. */
  readonly status: number;
}

/** Calls to the API server that may be held at once: the controller has 16 connections for all of them. */
const room = 8;

/**
 * Numbers what the controller does for each machine, and stops machines at given steps: the call of the step is held
 * open until whoever made it is dead, and whatever else is done for the machine is held with it. Where that would keep
 * other machines from getting as far, the call is cut off instead; either way nothing more of the machine gets through.
 */
export class Gate {
  readonly met: Met[] = [];
  /** Writes that are about no machine, by what they do. */
  readonly unattributed = new Map<string, number>();
  /** What a stopped machine is kept from: `all` calls, or those to the `api-server` alone, as when that is away. */
  readonly #keptFrom: 'all' | 'api-server';
  readonly #subjects: Subjects;
  readonly #stops = new Map<string, Stop>();
  readonly #stopped = new Set<string>();
  readonly #counts = new Map<string, number>();
  #held = new Set<() => void>();

  constructor(subjects: Subjects, keptFrom: 'all' | 'api-server' = 'all') {
    this.#subjects = subjects;
    this.#keptFrom = keptFrom;
  }

  /** Begins to count the machine's steps anew. */
  begin(subject: string): void {
    for (const key of this.#counts.keys())
      if (key.startsWith(`${subject} `)) this.#counts.delete(key);
  }

  arm(subject: string, stop: Stop): void {
    this.#stops.set(subject, stop);
  }

  disarm(subject: string): void {
    this.#stops.delete(subject);
  }

  isStopped(subject: string): boolean {
    return this.#stopped.has(subject);
  }

  /** Forgets all stops. What is held ends unheard: whoever asked is dead. */
  thaw(): void {
    this.#stops.clear();
    this.#stopped.clear();
    const held = this.#held;
    this.#held = new Set();
    for (const end of held) end();
  }

  /** How a call passes. */
  readonly admit = (exchange: Exchange): Passage => {
    const deed = deedOf(exchange);
    const subjects = this.#subjects.of(exchange);
    if (subjects.length === 0) {
      if (deed.changes) this.#note(`${exchange.service}: ${deed.name}`);
      return open;
    }
    const steps = subjects.map((subject) => this.#step(subject, exchange, deed));
    return {
      goesIn: async () => {
        const passes = !this.#isHere(steps, 'before') && !this.#isKept(exchange, deed, steps);
        if (!passes) this.#tell(exchange, deed, steps, 0);
        return passes || this.#hold(exchange, deed);
      },
      comesBack: async ({ status, body }) => {
        if (status < 300) this.#count(steps);
        if (status < 300) this.#subjects.learn(exchange, body);
        this.#tell(exchange, deed, steps, status);
        const passes = !this.#isHere(steps, 'after') || this.#isFree(exchange);
        return passes || this.#hold(exchange, deed);
      },
    };
  };

  /** Whether one of the machines is to be stopped here; it is from now on. */
  #isHere(steps: readonly Step[], side: Stop['side']): boolean {
    const here = steps.filter(({ subject, step }) => {
      const stop = this.#stops.get(subject);
      return stop?.side === side && isAt(stop, step);
    });
    for (const { subject } of here) {
      this.#stops.delete(subject);
      this.#stopped.add(subject);
    }
    return here.length > 0;
  }

  #isKept(exchange: Exchange, { changes }: Deed, steps: readonly Step[]): boolean {
    if (!changes || this.#isFree(exchange)) return false;
    return steps.some(({ subject }) => this.#stopped.has(subject));
  }

  #isFree({ service }: Exchange): boolean {
    return this.#keptFrom === 'api-server' && service !== 'kubernetes';
  }

  /** @returns false, once nobody waits for the answer any more */
  async #hold({ service }: Exchange, { shared }: Deed): Promise<boolean> {
    if (this.#isFree({ service } as Exchange)) return true;
    const isFull = service === 'kubernetes' && this.#held.size >= room;
    if (shared !== undefined || isFull || this.#keptFrom === 'api-server') return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#held.add(() => resolve(false));
    return promise;
  }

  #tell({ service }: Exchange, deed: Deed, steps: readonly Step[], status: number): void {
    const { changes, shared } = deed;
    for (const { subject, step } of steps)
      this.met.push({ subject, step, service, changes, shared, status });
  }

  /** One that was refused or cut off is not counted: its repetition is the same step. */
  #step(subject: string, { service }: Exchange, { name }: Deed): Step {
    const key = `${subject} ${service} ${name}`;
    const count = (this.#counts.get(key) ?? 0) + 1;
    return { subject, key, step: `${service}: ${name}${count > 1 ? ` (${count})` : ''}` };
  }

  #count(steps: readonly Step[]): void {
    for (const { key } of steps) this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  #note(what: string): void {
    this.unattributed.set(what, (this.unattributed.get(what) ?? 0) + 1);
  }
}

interface Step {
  readonly subject: string;
  /** By which it is counted. */
  readonly key: string;
  readonly step: string;
}

/** Whether this is where the stop is. */
export function isAt(stop: Stop, step: string): boolean {
  return stop.step.endsWith('*') ? step.startsWith(stop.step.slice(0, -1)) : stop.step === step;
}

const open: Passage = { goesIn: async () => true };
